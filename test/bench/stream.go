package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"simgraph/db/access"
	"simgraph/domain"
)

// streamSamples is how often the memory is read while a stream runs.
const streamSamples = 12

// streamed sends one stream of records to the built server and watches its
// memory, which must not grow with the stream.
func (b *bench) streamed(ctx context.Context) error {
	if b.stream == 0 {
		return nil
	}
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	server, err := startServer(ctx, b.simgraph, b.url)
	if err != nil {
		return err
	}
	defer server.stop()
	return b.watchStream(ctx, server, token)
}

func (b *bench) watchStream(ctx context.Context, server *program, token string) error {
	body, input := io.Pipe()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.address+"/usage/records", body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("Authorization", "Bearer "+token)
	began, cpu, own := time.Now(), b.cpu.total(), server.cpu()
	go func() { _ = input.CloseWithError(b.writeStream(input)) }()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var samples []int
	accepted := 0
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"status":"accepted"`) {
			return fmt.Errorf("line %d of the stream is answered %s", accepted+1, lines.Text())
		}
		if accepted++; accepted%max(1, b.stream/streamSamples) == 0 {
			samples = append(samples, resident(server.pid))
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if accepted != b.stream {
		return fmt.Errorf("%d of %d lines of the stream are answered", accepted, b.stream)
	}
	took := time.Since(began)
	fmt.Fprintf(b.out, "\n## A stream\n\n%d records in one `POST /usage/records`, %.0f/s; CPU a record: database %s, server %s. "+
		"Resident memory of the server over its course, in MB: %s; between %d and %d.\n", accepted, float64(accepted)/took.Seconds(),
		micros((b.cpu.total()-cpu)/time.Duration(accepted)), micros((server.cpu()-own)/time.Duration(accepted)),
		strings.ReplaceAll(strings.Trim(fmt.Sprint(samples), "[]"), " ", ", "), slices.Min(samples), slices.Max(samples))
	return nil
}

// streamLine is a record as POST /usage/records takes it.
type streamLine struct {
	Source           string     `json:"source"`
	RecordID         string     `json:"recordId"`
	PhysicalID       string     `json:"physicalId"`
	SessionID        string     `json:"sessionId"`
	Sequence         int        `json:"sequence"`
	StartedAt        time.Time  `json:"startedAt"`
	EndedAt          time.Time  `json:"endedAt"`
	MobileOriginated int64      `json:"mobileOriginated"`
	MobileTerminated int64      `json:"mobileTerminated"`
	Protocol         string     `json:"protocol"`
	IPAddress        netip.Addr `json:"ipAddress"`
}

func streamLineOf(r domain.UsageRecord) streamLine {
	return streamLine{
		r.Source, r.RecordID, r.PhysicalID, r.SessionID, r.Sequence, r.StartedAt, r.EndedAt,
		r.MobileOriginated, r.MobileTerminated, r.Protocol, r.IPAddress,
	}
}

func (b *bench) writeStream(to io.Writer) error {
	buffered := bufio.NewWriter(to)
	lines, records := json.NewEncoder(buffered), newSource(int(nextSource.Add(1)), b.subscribers, b.month.Start)
	for range b.stream {
		r := records.records(1)[0]
		if err := lines.Encode(streamLineOf(r)); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// recorderToken makes the company's user of all permissions, and a token.
func (b *bench) recorderToken(ctx context.Context) (string, error) {
	if _, err := b.pool.ExecContext(ctx, reader, b.scope.Company, permissions()); err != nil {
		return "", err
	}
	grant, err := access.New(b.pool).Issue(ctx, b.scope, "reader@bench.example", 12*time.Hour)
	return string(grant.Token), err
}
