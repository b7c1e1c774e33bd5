package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"simgraph/db/usage"
	"simgraph/export"
)

// exportedMost is what the resident memory of a server that exports may reach, in MB.
const exportedMost = 250

// exported reads usage and subscribers as files from the built server, each from a process of
// its own.
func (b *bench) exported(ctx context.Context) error {
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	if _, err := b.pool.ExecContext(ctx, clearUsage); err != nil {
		return err
	}
	if err := b.fill(ctx, usage.New(b.pool, nil, usage.Options{}), 0, b.exports); err != nil {
		return err
	}
	month := url.Values{"from": {b.month.Start.Format(time.DateOnly)}, "to": {b.month.Start.AddDate(0, 0, 27).Format(time.DateOnly)}, "timeZone": {"UTC"}}
	fmt.Fprintf(b.out, "\n## Exports of %d records of %d subscribers in 28 days\n\n"+
		"| export | format | rows | MB | rows/s | CPU of PostgreSQL | of the server | resident memory of the server before, at its peak, MB |\n"+
		"|---|---|--:|--:|--:|--:|--:|--:|\n", b.exports, b.subscribers)
	for _, of := range []struct{ name, path, interval string }{
		{"usage by subscriber and hour", export.Usage, "HOUR"},
		{"usage by subscriber and day", export.Usage, "DAY"},
		{"subscribers", "subscribers", ""},
	} {
		for _, format := range export.Formats {
			query := url.Values{}
			if of.interval != "" {
				for name, values := range month {
					query[name] = values
				}
				query.Set("interval", of.interval)
			}
			query.Set("format", format)
			if err := b.export(ctx, token, of.name, format, export.Prefix+of.path+"?"+query.Encode()); err != nil {
				return fmt.Errorf("%s as %s: %w", of.name, format, err)
			}
		}
	}
	return nil
}

// export reads one file from a new server, and prints what that cost.
func (b *bench) export(ctx context.Context, token, name, format, path string) error {
	server, err := startServer(ctx, b.simgraph, b.url)
	if err != nil {
		return err
	}
	defer server.stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.address+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	before, began, cpu, own := resident(server.pid), time.Now(), b.cpu.total(), server.cpu()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	size, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		return err
	}
	took := time.Since(began)
	rows, err := strconv.Atoi(answer.Trailer.Get(export.RowsTrailer))
	if err != nil || rows == 0 {
		return fmt.Errorf("answered %s without rows", answer.Status)
	}
	peak := memory(server.pid, "VmHWM:")
	fmt.Fprintf(b.out, "| %s | %s | %d | %d | %.0f | %.1f s | %.1f s | %d, %d |\n", name, format, rows, size>>20, float64(rows)/took.Seconds(),
		(b.cpu.total() - cpu).Seconds(), (server.cpu() - own).Seconds(), before, peak)
	if peak > exportedMost {
		return fmt.Errorf("the server takes more than %d MB", exportedMost)
	}
	return nil
}
