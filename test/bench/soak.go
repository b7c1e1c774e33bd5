package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"simgraph/db/pg"
)

// soak runs the server for long at a share of what it can do, and looks for
// what grows.
type soak struct {
	*answers
	total, every time.Duration
	share        float64
	sockets      int
	admin        string
}

func parseSoak(args []string) (*soak, error) {
	s := &soak{answers: &answers{bench: &bench{out: os.Stdout}}}
	flags := flag.NewFlagSet("bench soak", flag.ContinueOnError)
	flags.DurationVar(&s.total, "for", 10*time.Minute, "how long the server is under load")
	flags.Float64Var(&s.share, "load", 0.7, "the share of its saturating rate")
	flags.DurationVar(&s.every, "every", 10*time.Second, "how often samples are taken")
	flags.IntVar(&s.sockets, "sockets", 50, "number of WebSockets that come and go")
	flags.IntVar(&s.subscribers, "subscribers", 20_000, "number of subscribers, each with three tags")
	flags.IntVar(&s.groups, "groups", 500, "number of groups, at least 200")
	flags.IntVar(&s.records, "records", 200_000, "number of usage records to begin with")
	flags.IntVar(&s.connections, "connections", 32, "number of HTTP connections")
	flags.StringVar(&s.databaseURL, "database-url", "", "a database, empty or from an earlier run; default a private server in a temporary folder")
	flags.StringVar(&s.dir, "dir", "", "where the temporary folder is made")
	flags.StringVar(&s.simgraph, "simgraph", "./simgraph", "the server's program")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if s.share <= 0 || s.share > 1 || s.every < time.Second || s.total < 6*s.every {
		return nil, errors.New("-load is more than 0 and at most 1, -every at least 1s, -for at least six times that")
	}
	return s, nil
}

// errGrows is the verdict on a server that could not run for years.
var errGrows = errors.New("the server does not stay as it is")

func runSoak(ctx context.Context, args []string) error {
	s, err := parseSoak(args)
	if err != nil {
		return err
	}
	url, done, err := server(ctx, s.options)
	if err != nil {
		return err
	}
	defer done()
	s.url = url
	if s.pool, err = pg.Open(ctx, url, pg.Options{}); err != nil {
		return err
	}
	defer func() { _ = s.pool.Close() }()
	if err := s.prepareFleet(ctx); err != nil {
		return err
	}
	p, err := s.startSoaked(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	samples, err := s.sampled(ctx, p)
	if err != nil {
		return err
	}
	if !s.report(samples) {
		return errGrows
	}
	return nil
}

func (s *soak) startSoaked(ctx context.Context) (*program, error) {
	var err error
	if s.admin, err = freeAddress(); err != nil {
		return nil, err
	}
	return startServer(ctx, s.simgraph, s.url, append(noLimits, "--admin-addr", s.admin)...)
}

// sampled finds the rate, and takes a sample after each while at its share.
func (s *soak) sampled(ctx context.Context, p *program) ([]sample, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: s.connections, DisableCompression: true}}
	defer client.CloseIdleConnections()
	mix := s.newMix()
	fmt.Fprintln(os.Stderr, "looking for the saturating rate")
	s.during(ctx, s.every/2, client, p, mix.request, 0)
	latencies, _ := s.during(ctx, s.every, client, p, mix.request, 0)
	saturating := float64(len(latencies)) / s.every.Seconds()
	_, _ = fmt.Fprintf(s.out, "Saturating: %.0f requests/s of the mix; under load of %.0f %% of it for %v.\n\n", saturating, s.share*100, s.total)
	guests, leave := context.WithCancel(ctx)
	var visiting sync.WaitGroup
	defer visiting.Wait()
	defer leave()
	for range s.sockets {
		visiting.Go(func() { s.visit(guests, p) })
	}
	var samples []sample
	for began := time.Now(); time.Since(began) < s.total && ctx.Err() == nil; {
		latencies, failures := s.during(ctx, s.every, client, p, mix.request, saturating*s.share)
		one, err := s.look(ctx, latencies, failures)
		if err != nil {
			return nil, err
		}
		one.at = time.Since(began)
		samples = append(samples, one)
		fmt.Fprintf(os.Stderr, "%6s  %s\n", one.at.Round(time.Second), one)
	}
	return samples, ctx.Err()
}
