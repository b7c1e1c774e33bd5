package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"simgraph/domain"
	"simgraph/internal/radius"
)

// feedPatience is how long answers are waited for at the end.
const feedPatience = 10 * time.Second

// answered are packets with the time until their answers.
type answered struct {
	measured
	lost int
	mu   sync.Mutex
	took []time.Duration
}

func (a *answered) add(took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.took = append(a.took, took)
	a.records++
}

func (a *answered) quantile(q float64) time.Duration {
	if len(a.took) == 0 {
		return 0
	}
	slices.Sort(a.took)
	return a.took[int(q*float64(len(a.took)-1))]
}

// feedSender sends the interims of sessions, one after the other.
type feedSender struct {
	to          netip.AddrPort
	began       time.Time
	subscribers int
	// bytes are the counters of the sessions, next is the number of the next packet.
	bytes []atomic.Int64
	next  atomic.Int64
}

func newFeedSender(to netip.AddrPort, sessions, subscribers int) *feedSender {
	return &feedSender{to: to, began: time.Now().Add(-time.Hour).Truncate(time.Second), subscribers: subscribers, bytes: make([]atomic.Int64, sessions)}
}

// names of a session are its network element, its id there and its IMSI.
func (s *feedSender) names(session int) (nas, id, imsi string) {
	return fmt.Sprintf("nas-%d", session%16), fmt.Sprintf("%x", session), fmt.Sprintf("2341500%08d", session%s.subscribers)
}

// starts are the records that open the sessions, as the listener reads them.
func (s *feedSender) starts() []domain.UsageRecord {
	records := make([]domain.UsageRecord, len(s.bytes))
	for i := range records {
		nas, id, imsi := s.names(i)
		records[i] = domain.UsageRecord{
			Source: "bench", SessionID: nas + "/" + id, StartedAt: s.began, EndedAt: s.began, Protocol: domain.DefaultProtocol,
			IMSI: imsi, IMSIDecides: true,
			Report: &domain.SessionReport{Event: domain.SessionStarted, NAS: nas, APN: "iot.example"},
		}
	}
	return records
}

// firsts are records of an interim of each session, some minutes after its start.
func (s *feedSender) firsts() []domain.UsageRecord {
	records := s.starts()
	for i := range records {
		bytes := s.bytes[i].Add(1 + rand.Int64N(1<<20))
		report := *records[i].Report
		report.Event = domain.SessionUpdated
		records[i].EndedAt, records[i].Report = s.began.Add(5*time.Minute), &report
		records[i].MobileOriginated, records[i].MobileTerminated = bytes, bytes
	}
	return records
}

// interim encodes the next packet.
func (s *feedSender) interim(identifier byte) ([]byte, error) {
	session := int(s.next.Add(1)*7919) % len(s.bytes)
	nas, id, imsi := s.names(session)
	bytes := s.bytes[session].Add(rand.Int64N(1 << 20))
	packet := (&radius.Report{
		Event: domain.SessionUpdated, NAS: nas, SessionID: id, IMSI: imsi, APN: "iot.example", Network: "23415", RATType: 6,
		Address: netip.AddrFrom4([4]byte{10, byte(session >> 16), byte(session >> 8), byte(session)}), BeganAt: s.began, At: time.Now(),
		MobileOriginated: bytes, MobileTerminated: bytes,
	}).Packet(feedSecret)
	packet.Identifier = identifier
	return packet.Encode()
}

// making is the CPU time that it takes to make up packets.
func (s *feedSender) making(n int) time.Duration {
	const sample = 2_000
	began := ownCPU()
	for range sample {
		_, _ = s.interim(0)
	}
	return (ownCPU() - began) * time.Duration(n) / sample
}

// run sends for a time.
func (s *feedSender) run(ctx context.Context, rate float64, during time.Duration, into *answered) error {
	end := time.Now().Add(during)
	return s.send(ctx, rate, into, func() bool { return time.Now().Before(end) })
}

// count sends as many packets, as fast as they are answered.
func (s *feedSender) count(ctx context.Context, n int, into *answered) error {
	var sent atomic.Int64
	return s.send(ctx, 0, into, func() bool { return sent.Add(1) <= int64(n) })
}

func (s *feedSender) send(ctx context.Context, rate float64, into *answered, more func() bool) error {
	var sockets sync.WaitGroup
	errs := make(chan error, feedSockets)
	for range feedSockets {
		sockets.Go(func() { errs <- s.socket(ctx, rate/feedSockets, into, more) })
	}
	sockets.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// socket sends from one port, with at most feedWindow packets unanswered. The time of
// an answer counts from when its packet was due.
func (s *feedSender) socket(ctx context.Context, rate float64, into *answered, more func() bool) error {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(s.to))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	free := make(chan byte, feedWindow)
	for i := range feedWindow {
		free <- byte(i)
	}
	var due [feedWindow]atomic.Int64
	began := time.Now()
	go func() {
		answer := make([]byte, 4096)
		for {
			n, err := conn.Read(answer)
			if err != nil {
				return
			}
			if n > 1 {
				into.add(time.Since(began) - time.Duration(due[answer[1]].Load()))
				free <- answer[1]
			}
		}
	}()
	for n := 0; more(); n++ {
		at := time.Since(began)
		if rate > 0 {
			at = time.Duration(float64(n) / rate * float64(time.Second))
			time.Sleep(at - time.Since(began))
		}
		identifier, ok := s.take(ctx, free)
		if !ok {
			break
		}
		if rate == 0 {
			at = time.Since(began)
		}
		due[identifier].Store(int64(at))
		packet, err := s.interim(identifier)
		if err != nil {
			return err
		}
		if _, err := conn.Write(packet); err != nil {
			return err
		}
	}
	return s.drain(ctx, free, into)
}

// take waits for a free identifier.
func (s *feedSender) take(ctx context.Context, free <-chan byte) (byte, bool) {
	select {
	case identifier := <-free:
		return identifier, true
	case <-ctx.Done():
	case <-time.After(feedPatience):
	}
	return 0, false
}

// drain waits for the last answers, and counts those that do not come.
func (s *feedSender) drain(ctx context.Context, free <-chan byte, into *answered) error {
	for left := feedWindow; left > 0; left-- {
		if _, ok := s.take(ctx, free); !ok {
			into.mu.Lock()
			defer into.mu.Unlock()
			into.lost += left
			return ctx.Err()
		}
	}
	return nil
}
