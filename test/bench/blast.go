package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

const (
	// blastRate are unusable packets a second.
	blastRate = 2_000
	// blastReads are compared without and with the packets.
	blastReads = 1_500
	// blastRatio is how many times p99 of the requests of others may become.
	blastRatio   = 10
	blastCompany = `
WITH company AS (INSERT INTO company_lookup (external_id) VALUES ('blaster') RETURNING company_id)
INSERT INTO companies (company_id, external_id, name) SELECT company_id, 'blaster', 'Blaster' FROM company`
)

// blasted measures the requests of a company while a network element of another sends
// packets that cannot be used.
func (b *bench) blasted(ctx context.Context) error {
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "simgraph-blast-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := b.pool.ExecContext(ctx, blastCompany); err != nil {
		return err
	}
	client := exec.CommandContext(ctx, b.simgraph, "radius", "client", "add", "blaster", "--network", "127.0.0.1", "--company", "blaster", "--secret-file", "-",
		"--database-url", b.url, "--data-dir", dir)
	client.Stdin = strings.NewReader(string(feedSecret))
	if out, err := client.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	server, err := startServerAt(ctx, address, b.simgraph, b.url, append(noLimits, "--data-dir", dir, "--radius-addr", address)...)
	if err != nil {
		return err
	}
	defer server.stop()
	o := &operated{bench: b, server: server, token: token}
	if _, err := o.latencies(ctx, blastReads/10); err != nil { // warm
		return err
	}
	idle, err := o.latencies(ctx, blastReads)
	if err != nil {
		return err
	}
	sent, err := blast(ctx, address)
	if err != nil {
		return err
	}
	beside, err := o.latencies(ctx, blastReads)
	packets, answers, took := sent.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## A blast of unusable packets\n\nA read is one subscriber with group, tags and usage, %.0f a second, of another company.\n\n", 1/readEvery.Seconds())
	fmt.Fprintln(b.out, "| packets/s | answered | read p50 | p99 | resident memory of the server, MB |\n|--:|--:|--:|--:|--:|")
	fmt.Fprintf(b.out, "| 0 | | %s | %s | |\n", millis(idle[0]), millis(idle[1]))
	fmt.Fprintf(b.out, "| %.0f | %.1f %% | %s | %s | %d |\n", float64(packets)/took.Seconds(), 100*float64(answers)/float64(max(packets, 1)),
		millis(beside[0]), millis(beside[1]), resident(server.pid))
	if beside[1] > blastRatio*idle[1] {
		return fmt.Errorf("p99 beside the packets is more than %d times that without", blastRatio)
	}
	return nil
}

// latencies returns p50 and p99 of so many reads.
func (o *operated) latencies(ctx context.Context, many int) (quantiles [2]time.Duration, err error) {
	took := make([]time.Duration, 0, many)
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for n := range many {
		began := time.Now()
		var answer any
		if err := o.ask(ctx, readOne, map[string]any{"id": fmt.Sprintf("8944%015d", n*7919%o.subscribers)}, &answer); err != nil {
			return quantiles, err
		}
		took = append(took, time.Since(began))
		<-tick.C
	}
	slices.Sort(took)
	return [2]time.Duration{took[len(took)/2], took[len(took)*99/100]}, nil
}

// blasting are packets on their way.
type blasting struct {
	conn          net.Conn
	sent, answers atomic.Int64
	began         time.Time
	stopped, done chan struct{}
}

// blast sends packets without Acct-Session-Id at blastRate until end.
func blast(ctx context.Context, to string) (*blasting, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", to)
	if err != nil {
		return nil, err
	}
	b := &blasting{conn: conn, began: time.Now(), stopped: make(chan struct{}), done: make(chan struct{})}
	go func() {
		for answer := make([]byte, radius.MaxPacketLength); ; b.answers.Add(1) {
			if _, err := conn.Read(answer); err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(b.done)
		for n := 0; ; n++ {
			time.Sleep(time.Duration(n)*time.Second/blastRate - time.Since(b.began))
			select {
			case <-b.stopped:
				return
			default:
			}
			if packet, err := unusable(n); err == nil {
				_, _ = conn.Write(packet)
				b.sent.Add(1)
			}
		}
	}()
	return b, nil
}

func unusable(n int) ([]byte, error) {
	p := radius.New(radius.CodeAccountingRequest, feedSecret)
	p.Identifier = byte(n)
	_ = rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_InterimUpdate)
	_ = rfc2865.NASIdentifier_SetString(p, fmt.Sprintf("nas-%d", n%10))
	_ = rfc2866.AcctInputOctets_Set(p, rfc2866.AcctInputOctets(uint32(n))) //nolint:gosec // of no meaning
	return p.Encode()
}

// end stops the packets and waits for the last answers.
func (b *blasting) end() (packets, answers int64, took time.Duration) {
	close(b.stopped)
	<-b.done
	took = time.Since(b.began)
	time.Sleep(time.Second)
	_ = b.conn.Close()
	return b.sent.Load(), b.answers.Load(), took
}
