package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// sample is the state of the server after a while of load.
type sample struct {
	at time.Duration
	// resident and heap are bytes, heap what lives after a collection.
	resident, heap               float64
	goroutines, files, databases float64
	// rate is requests a second, p50 and p99 are microseconds.
	rate, p50, p99 float64
	failures       int
}

func (s sample) String() string {
	return fmt.Sprintf("%5.0f/s  p50 %.2f ms  p99 %.1f ms  resident %.0f MB  heap %.1f MB  goroutines %.0f  files %.0f  database connections %.0f  failures %d",
		s.rate, s.p50/1000, s.p99/1000, s.resident/(1<<20), s.heap/(1<<20), s.goroutines, s.files, s.databases, s.failures)
}

const serversConnections = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'simgraph'`

// look takes a sample; the latencies are those of the while before it.
func (s *soak) look(ctx context.Context, latencies []time.Duration, failures int) (sample, error) {
	slices.Sort(latencies)
	one := sample{rate: float64(len(latencies)) / s.every.Seconds(), p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), failures: failures}
	if err := s.collect(ctx); err != nil {
		return one, err
	}
	found, err := s.metrics(ctx)
	if err != nil {
		return one, err
	}
	one.resident, one.heap = found["process_resident_memory_bytes"], found["go_memstats_heap_alloc_bytes"]
	one.goroutines, one.files = found["go_goroutines"], found["process_open_fds"]
	return one, s.pool.GetContext(ctx, &one.databases, serversConnections)
}

// collect has the server collect its garbage.
func (s *soak) collect(ctx context.Context) error {
	body, err := s.ofAdmin(ctx, "/debug/pprof/heap?gc=1")
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, body)
	_ = body.Close()
	return err
}

func (s *soak) metrics(ctx context.Context) (map[string]float64, error) {
	body, err := s.ofAdmin(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	found := map[string]float64{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		found[name], _ = strconv.ParseFloat(value, 64)
	}
	return found, lines.Err()
}

func (s *soak) ofAdmin(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.admin+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// measure is one of the things that must not grow: by more than a share, and
// more than a step that is noise.
type measure struct {
	name, unit string
	of         func(sample) float64
	// level is the quantile of the samples that is compared: the lowest of
	// memory, which garbage lies upon, the middle of others.
	level       float64
	share, step float64
}

const lowest, middle = 0, 0.5

var measures = []measure{
	{"resident memory", "MB", func(s sample) float64 { return s.resident / (1 << 20) }, lowest, 0.10, 16},
	{"live heap", "MB", func(s sample) float64 { return s.heap / (1 << 20) }, lowest, 0.10, 8},
	{"goroutines", "", func(s sample) float64 { return s.goroutines }, middle, 0.10, 20},
	{"open files", "", func(s sample) float64 { return s.files }, middle, 0.10, 10},
	{"database connections", "", func(s sample) float64 { return s.databases }, middle, 0, 1},
	{"p50", "ms", func(s sample) float64 { return s.p50 / 1000 }, middle, 0.25, 0.5},
	{"p99", "ms", func(s sample) float64 { return s.p99 / 1000 }, middle, 0.50, 10},
}

// report compares the first minutes, the very first aside, with the last.
func (s *soak) report(samples []sample) bool {
	samples = samples[len(samples)/10:] // caches fill, pools grow
	part := max(1, len(samples)/4)
	first, last := samples[:part], samples[len(samples)-part:]
	table := tabwriter.NewWriter(s.out, 0, 0, 1, ' ', 0)
	_, _ = fmt.Fprintf(table, "| \t| first %v\t| last %v\t| growth a minute\t| verdict\t|\n|---\t|---\t|---\t|---\t|---\t|\n",
		time.Duration(part)*s.every, time.Duration(part)*s.every)
	steady := true
	for _, m := range measures {
		before, after := m.levelOf(first), m.levelOf(last)
		verdict := "steady"
		if after-before > max(before*m.share, m.step) {
			verdict, steady = "**grows**", false
		}
		_, _ = fmt.Fprintf(table, "| %s\t| %.2f %s\t| %.2f %s\t| %+.3f\t| %s\t|\n", m.name, before, m.unit, after, m.unit, slope(samples, m.of), verdict)
	}
	failures := 0
	for _, one := range samples {
		failures += one.failures
	}
	_ = table.Flush()
	_, _ = fmt.Fprintf(s.out, "\n%d requests failed.\n", failures)
	return steady && failures == 0
}

func (m *measure) levelOf(samples []sample) float64 {
	values := make([]float64, len(samples))
	for i, one := range samples {
		values[i] = m.of(one)
	}
	slices.Sort(values)
	return values[int(m.level*float64(len(values)-1))]
}

// slope is the growth a minute, by least squares.
func slope(samples []sample, of func(sample) float64) float64 {
	var x, y, xx, xy float64
	n := float64(len(samples))
	for _, one := range samples {
		at, value := one.at.Minutes(), of(one)
		x, y, xx, xy = x+at, y+value, xx+at*at, xy+at*value
	}
	if spread := n*xx - x*x; spread > 0 {
		return (n*xy - x*y) / spread
	}
	return 0
}
