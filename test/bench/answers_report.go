package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what a run found; its JSON is for later runs to compare with.
type report struct {
	At                            time.Time
	Subscribers, Groups, Records  int
	Connections, CPUs, ResidentMB int
	// SteadyMB is the memory in the course of SteadySeconds of load.
	SteadyMB      []int
	SteadySeconds int
	Rows          []*reportRow
	// Compression is what compressing one of the answers costs.
	Compression []*compressed
}

type reportRow struct {
	Workload string
	// A figure for each round.
	Server, Limit, Bare, PostgreSQL []figures
	// Half is the server at half of its highest rate, BareHalf the bare handler
	// at the same rate.
	Half, BareHalf figures
	// Allocations and Bytes are those of one request.
	Allocations, Bytes uint64
}

func newReport(a *answers) *report {
	r := &report{
		At: time.Now().UTC().Truncate(time.Second), Subscribers: a.subscribers, Groups: a.groups, Records: a.records,
		Connections: a.connections, CPUs: runtime.NumCPU(),
	}
	for _, w := range a.workloads {
		r.Rows = append(r.Rows, &reportRow{Workload: w.Name})
	}
	return r
}

func (r *report) row(w *workload) *reportRow { return r.Rows[w.Number] }

func (r *report) write(file string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func rate(f figures) float64     { return f.PerSecond }
func p50(f figures) float64      { return f.P50 }
func p99(f figures) float64      { return f.P99 }
func server1(f figures) float64  { return f.Server }
func postgres(f figures) float64 { return f.PostgreSQL }

// whole is the CPU of server and PostgreSQL.
func whole(f figures) float64 { return f.Server + f.PostgreSQL }

func median(rounds []figures, of func(figures) float64) float64 {
	if len(rounds) == 0 {
		return 0
	}
	values := make([]float64, len(rounds))
	for i, f := range rounds {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// print writes the table, and the change since an earlier run.
func (r *report) print(out io.Writer, against string) error {
	earlier, err := readReport(against)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d subscribers, %d groups, %d usage records, %d connections, %d CPUs; server resident %d MB.\n\n",
		r.Subscribers, r.Groups, r.Records, r.Connections, r.CPUs, r.ResidentMB)
	fmt.Fprintln(out, "| workload | whole CPU | of limit | server + PostgreSQL | of bare | PostgreSQL of pgbench | requests/s | of limit | p50 | p99 | p99/p50 at half | that of bare | allocations | of earlier CPU |")
	fmt.Fprintln(out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, row := range r.Rows {
		fmt.Fprintln(out, row.line(earlier))
	}
	r.printCompression(out)
	if memory := r.memory(); memory != "" {
		fmt.Fprintf(out, "\n%s", memory)
	}
	return nil
}

func (row *reportRow) line(earlier *report) string {
	of := func(ceiling []figures, f func(figures) float64) string {
		return quotient(median(row.Server, f), median(ceiling, f))
	}
	before := "–"
	if then := earlier.find(row.Workload); then != nil {
		before = of(then.Server, whole)
	}
	cells := []string{
		row.Workload,
		inMillis(median(row.Server, whole)), of(row.Limit, whole),
		fmt.Sprintf("%.2f + %.2f ms", median(row.Server, server1)/1000, median(row.Server, postgres)/1000), of(row.Bare, whole), of(row.PostgreSQL, postgres),
		fmt.Sprintf("%.0f", median(row.Server, rate)), of(row.Limit, rate), inMillis(median(row.Server, p50)), inMillis(median(row.Server, p99)),
		quotient(row.Half.P99, row.Half.P50), quotient(row.BareHalf.P99, row.BareHalf.P50),
		fmt.Sprintf("%d, %d kB", row.Allocations, row.Bytes>>10), before,
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func inMillis(microseconds float64) string { return fmt.Sprintf("%.2f ms", microseconds/1000) }

func quotient(of, to float64) string {
	if to == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", of/to)
}

func readReport(file string) (*report, error) {
	r := &report{}
	if file == "" {
		return r, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(text, r)
}

func (r *report) find(workload string) *reportRow {
	for _, row := range r.Rows {
		if row.Workload == workload {
			return row
		}
	}
	return nil
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// ratio is "" where there is nothing to compare with, such as no /proc.
func ratio(of, to time.Duration) string {
	if to == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(of)/float64(to))
}
