package main

import (
	"context"
	"io"
	"net/http"
	"slices"
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

// load sends over all connections, as fast as answers come, or at a rate.
func (a *answers) load(ctx context.Context, p *program, request func(string) *http.Request, perSecond float64) figures {
	return a.loadFor(ctx, a.duration, p, request, perSecond)
}

func (a *answers) loadFor(ctx context.Context, d time.Duration, p *program, request func(string) *http.Request, perSecond float64) figures {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: a.connections, DisableCompression: true}}
	defer client.CloseIdleConnections()
	a.during(ctx, d/4, client, p, request, perSecond) // connections, plans and caches
	server, postgres, begun := p.cpu(), a.cpu.total(), time.Now()
	latencies, failures := a.during(ctx, d, client, p, request, perSecond)
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
				if send(client, request(p.address).WithContext(ctx)) {
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

func send(client *http.Client, r *http.Request) bool {
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
