package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"simgraph/db/pg"
)

// scaled is a fleet with a server of its own.
type scaled struct {
	*answers
	server *program
	// rounds are the figures of each workload.
	rounds [][]figures
}

// scale measures what the size of the fleet and the number of returned rows cost:
// the same requests of a small fleet and of a large one, in turns.
func (a *answers) scale(ctx context.Context) error {
	var fleets []*scaled
	for _, subscribers := range []int{10_000, 1_000_000} {
		fmt.Fprintf(os.Stderr, "preparing %d subscribers\n", subscribers)
		one, err := a.scaledTo(ctx, subscribers)
		if err != nil {
			return err
		}
		defer one.close()
		fleets = append(fleets, one)
	}
	for round := range a.rounds {
		for i := range fleets[0].workloads {
			for _, one := range fleets {
				w := one.workloads[i]
				fmt.Fprintf(os.Stderr, "round %d of %d: %s of %d\n", round+1, a.rounds, w.Name, one.subscribers)
				one.rounds[i] = append(one.rounds[i], one.load(ctx, one.server, w.request, 0))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	a.printScaling(fleets[0], fleets[1])
	return nil
}

// scaledTo makes a fleet of that size in a database of its own.
func (a *answers) scaledTo(ctx context.Context, subscribers int) (*scaled, error) {
	name := fmt.Sprintf("bench_answers_%d", subscribers)
	if err := a.createDatabase(ctx, name); err != nil {
		return nil, err
	}
	at, err := url.Parse(a.url)
	if err != nil {
		return nil, err
	}
	at.Path = "/" + name
	one := *a
	one.bench = &bench{options: a.options, out: a.out, url: at.String()}
	one.subscribers, one.records = subscribers, subscribers
	if one.pool, err = pg.Open(ctx, one.url, pg.Options{}); err != nil {
		return nil, err
	}
	if err := one.prepareFleet(ctx); err != nil {
		return nil, err
	}
	all := one.newWorkloads()
	one.workloads = slices.Concat(all[:2], one.pages(), all[2:], one.searches())
	server, err := startServer(ctx, one.simgraph, one.url)
	return &scaled{answers: &one, server: server, rounds: make([][]figures, len(one.workloads))}, err
}

// createDatabase leaves one of an earlier run as it is.
func (a *answers) createDatabase(ctx context.Context, name string) error {
	var exists bool
	err := a.pool.GetContext(ctx, &exists, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name)
	if err == nil && !exists {
		_, err = a.pool.ExecContext(ctx, "CREATE DATABASE "+name)
	}
	return err
}

func (s *scaled) close() {
	s.server.stop()
	_ = s.pool.Close()
}

// pages are the second workload with fewer rows.
func (a *answers) pages() []*workload {
	page := func(first string) *workload {
		return a.graph("Q2 with "+first, strings.Replace(hundredSubscribers, "first: 100", first, 1), a.month.End, a.month.End, "hundred")
	}
	return []*workload{page("first: 10"), page("first: 50")}
}

// searches are those of the page: for an ICCID, for a part of one, and for a part of many nicknames.
func (a *answers) searches() []*workload {
	search := func(name, query, text string) *workload {
		return &workload{Name: "search for " + name, token: a.token, Variants: []*variant{{Query: graphBody(query, map[string]any{"text": text})}}}
	}
	iccid := a.some()[0]
	return []*workload{
		search("an ICCID", searchOfWhole, iccid), search("the end of an ICCID", searchOfPage, iccid[1:]), search("a part of many nicknames", searchOfPage, "eter 77"),
	}
}

const searchOfWhole = `query SearchWhole($text: String!) {
  subscribers(first: 8, filter: {or: [{physicalId: {eq: $text}}, {subscriberId: {eq: $text}}, {imsi: {eq: $text}}]}) { nodes { physicalId subscriberId nickname } pageInfo { hasNextPage } }
}`

const searchOfPage = `query Search($text: String!) {
  subscribers(first: 8, filter: {or: [
    {physicalId: {like: $text}}, {subscriberId: {like: $text}}, {nickname: {like: $text}}, {imsi: {like: $text}}
  ]}) { nodes { physicalId subscriberId nickname } pageInfo { hasNextPage } }
}`

func (a *answers) printScaling(small, large *scaled) {
	fmt.Fprintf(a.out, "| workload | server CPU, %d subscribers | server CPU, %d | ratio | PostgreSQL CPU, %d | PostgreSQL CPU, %d | ratio |\n",
		small.subscribers, large.subscribers, small.subscribers, large.subscribers)
	fmt.Fprintln(a.out, "|---|--:|--:|--:|--:|--:|--:|")
	for i, w := range small.workloads {
		line := "| " + w.Name
		for _, of := range []func(figures) float64{server1, postgres} {
			one, other := median(small.rounds[i], of), median(large.rounds[i], of)
			line += fmt.Sprintf(" | %s | %s | %s", inMillis(one), inMillis(other), quotient(other, one))
		}
		fmt.Fprintln(a.out, line+" |")
	}
	hundred, ten := median(small.rounds[1], server1), median(small.rounds[2], server1)
	fmt.Fprintf(a.out, "\nA row more of Q2 costs the server %.1f µs; what does not hang on rows is %s.\n",
		(hundred-ten)/90, inMillis(ten-(hundred-ten)/9))
}
