package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// figures are what one measurement found. Durations are in microseconds.
type figures struct {
	PerSecond float64
	P50, P99  float64
	// Server and PostgreSQL are their CPU time for one request.
	Server, PostgreSQL float64
	Failures           int
}

// load asks over all connections, as fast as answers come, or at a rate.
func (a *answers) load(ctx context.Context, p *program, request func(string) *http.Request, perSecond float64) figures {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: a.connections, DisableCompression: true}}
	defer client.CloseIdleConnections()
	a.during(ctx, a.duration/4, client, p, request, perSecond) // connections, plans and caches
	server, postgres, begun := p.cpu(), a.cpu.total(), time.Now()
	latencies, failures := a.during(ctx, a.duration, client, p, request, perSecond)
	n := float64(max(1, len(latencies)))
	slices.Sort(latencies)
	return figures{
		PerSecond:  float64(len(latencies)) / time.Since(begun).Seconds(),
		P50:        quantile(latencies, 0.50),
		P99:        quantile(latencies, 0.99),
		Server:     microseconds(p.cpu()-server) / n,
		PostgreSQL: microseconds(a.cpu.total()-postgres) / n,
		Failures:   failures,
	}
}

func (a *answers) during(ctx context.Context, d time.Duration, client *http.Client, p *program, request func(string) *http.Request, perSecond float64) ([]time.Duration, int) {
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	begun := time.Now()
	all := make([][]time.Duration, a.connections)
	var started, failures atomic.Int64
	var clients sync.WaitGroup
	for i := range all {
		clients.Go(func() {
			for ctx.Err() == nil {
				due := time.Now()
				if perSecond > 0 {
					// Lateness counts: a slow answer holds up those behind it.
					due = begun.Add(time.Duration(float64(started.Add(1)) / perSecond * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				if ask(client, request(p.address).WithContext(ctx)) {
					all[i] = append(all[i], time.Since(due))
				} else if ctx.Err() == nil {
					failures.Add(1)
				}
			}
		})
	}
	clients.Wait()
	return slices.Concat(all...), int(failures.Load())
}

func ask(client *http.Client, r *http.Request) bool {
	answer, err := client.Do(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return err == nil && answer.StatusCode == http.StatusOK
}

func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return microseconds(sorted[int(q*float64(len(sorted)-1))])
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// pgbench runs the statements of a workload, prepared, without any server; 0
// where the program is missing.
func (a *answers) pgbench(ctx context.Context, w *workload) figures {
	folder, err := os.MkdirTemp("", "simgraph-pgbench-")
	if err != nil {
		return figures{}
	}
	defer func() { _ = os.RemoveAll(folder) }()
	script := filepath.Join(folder, "script")
	args := []string{"-n", "-M", "prepared", "-c", "8", "-j", "2", "-T", strconv.Itoa(max(1, int(a.duration.Seconds()))), "-f", script}
	var text strings.Builder
	for i, s := range w.Statements {
		names := make([]string, len(s.Args))
		for n, value := range s.Args {
			if names[n] = "NULL"; parameter(value) != "" { // pgbench has neither NULL nor empty texts
				names[n] = fmt.Sprintf(":s%d_%d", i, n)
				args = append(args, "-D", names[n][1:]+"="+parameter(value))
			}
		}
		line := placeholder.ReplaceAllStringFunc(s.SQL, func(name string) string {
			n, _ := strconv.Atoi(name[1:])
			return names[n-1]
		})
		text.WriteString(strings.ReplaceAll(line, "\n", " ") + ";\n")
	}
	if os.WriteFile(script, []byte(text.String()), 0o600) != nil {
		return figures{}
	}
	before := a.cpu.total()
	printed, err := exec.CommandContext(ctx, "pgbench", append(args, a.url)...).Output()
	if err != nil {
		return figures{Failures: 1}
	}
	return a.pgbenchFigures(string(printed), before)
}

var (
	placeholder  = regexp.MustCompile(`\$\d+`)
	transactions = regexp.MustCompile(`actually processed: (\d+)`)
	tps          = regexp.MustCompile(`tps = ([0-9.]+)`)
)

func (a *answers) pgbenchFigures(printed string, before time.Duration) figures {
	number := func(of *regexp.Regexp) float64 {
		match := of.FindStringSubmatch(printed)
		if match == nil {
			return 0
		}
		n, _ := strconv.ParseFloat(match[1], 64)
		return n
	}
	return figures{PerSecond: number(tps), PostgreSQL: microseconds(a.cpu.total()-before) / max(1, number(transactions))}
}

// parameter is a value as PostgreSQL reads it.
func parameter(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case time.Time:
		return value.Format(time.RFC3339Nano)
	}
	return ""
}
