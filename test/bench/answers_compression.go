package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// compressed is what a page of 100 subscribers costs in one encoding.
type compressed struct {
	// Encoding is what the client accepts; "" is nothing.
	Encoding string
	// Bytes is the length of the body as it is sent.
	Bytes int64
	// Rounds are the figures of each round.
	Rounds []figures
}

// compress measures the page in each encoding, in turns. It measures nothing where
// no workload is such a page.
func (a *answers) compress(ctx context.Context, server *program) ([]*compressed, error) {
	at := slices.IndexFunc(a.workloads, func(w *workload) bool { return strings.HasSuffix(w.Name, "?limit=100") })
	if at < 0 {
		return nil, nil
	}
	page := a.workloads[at]
	rows := []*compressed{{}, {Encoding: "gzip"}, {Encoding: "zstd"}}
	for round := range a.rounds {
		for _, row := range rows {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s %s\n", round+1, a.rounds, page.Name, row.Encoding)
			request := func(address string) *http.Request {
				r := page.request(address)
				r.Header.Set("Accept-Encoding", cmp.Or(row.Encoding, "identity"))
				return r
			}
			if err := row.measureBytes(request(server.address)); err != nil {
				return nil, err
			}
			row.Rounds = append(row.Rounds, a.load(ctx, server, request, 0))
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	return rows, nil
}

func (c *compressed) measureBytes(r *http.Request) error {
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if got := answer.Header.Get("Content-Encoding"); got != c.Encoding {
		return fmt.Errorf("the answer is encoded as %q, not %q", got, c.Encoding)
	}
	c.Bytes, err = io.Copy(io.Discard, answer.Body)
	return err
}

// printCompression writes the table of encodings.
func (r *report) printCompression(out io.Writer) {
	if len(r.Compression) == 0 {
		return
	}
	plain := r.Compression[0]
	fmt.Fprintln(out, "\nA page of 100 subscribers over REST, by what the client accepts:")
	fmt.Fprintln(out, "\n| encoding | bytes | whole CPU | of plain | server CPU | requests/s |\n|---|--:|--:|--:|--:|--:|")
	for _, c := range r.Compression {
		fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %.0f |\n", cmp.Or(c.Encoding, "plain"), c.Bytes, inMillis(median(c.Rounds, whole)),
			quotient(median(c.Rounds, whole), median(plain.Rounds, whole)), inMillis(median(c.Rounds, server1)), median(c.Rounds, rate))
	}
}
