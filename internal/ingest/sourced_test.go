package ingest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/fatal"
)

// sendAs posts a body for a source, and returns the status with the answer.
func (d *fixture) sendAs(token, name string, body io.Reader, encoding string) (int, string) {
	d.Helper()
	r := d.request(http.MethodPost, token, body)
	r.URL.RawQuery = "source=" + name
	r.Header.Set("Content-Type", "text/csv")
	r.Header.Set("Content-Encoding", encoding)
	response, err := d.Client().Do(r)
	fatal.If(d, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil && d.Context().Err() == nil {
		return response.StatusCode, string(text) + err.Error()
	}
	return response.StatusCode, string(text)
}

func (d *fixture) source(name string) {
	d.Helper()
	if _, _, err := d.sources.Create(d.Context(), domain.Whole(d.company), source.Spec{Name: name, Profile: "csv", Authentication: source.Bearer}); err != nil {
		d.Fatal(err)
	}
}

const header = "physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,recordId\n"

// rows are records of s1, each of a byte up and two down.
func rows(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		_, _ = fmt.Fprintf(&b, "s1,2026-11-19T10:05:00Z,2026-11-19T10:20:00Z,1,2,r%d\n", n)
	}
	return b.String()
}

// A body longer than a batch is read by the profile of its source, plain or by gzip: what
// cannot be used is named with its place, and the same again changes nothing.
func TestABodyIsReadByTheProfileOfItsSource(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.source("carrier")
	const records = 7000
	body := header + rows(0, records-2) + "s1,never,never,1,2,rx\nsomebody,2026-11-19T10:05:00Z,2026-11-19T10:20:00Z,1,2,ry\n"
	want := fmt.Sprintf(`{"record":%d,"status":"rejected","reason":`, records-1)
	status, got := d.sendAs("good", "carrier", strings.NewReader(body), "")
	if status != http.StatusOK || !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, fmt.Sprintf("}\n"+`{"accepted":%d,"duplicates":0,"rejected":1,"skipped":0,"waiting":1}`+"\n", records-2)) {
		t.Error(status, got)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, body)
	_ = w.Close()
	status, got = d.sendAs("good", "carrier", &zipped, "gzip")
	if status != http.StatusOK || !strings.Contains(got, fmt.Sprintf(`{"accepted":0,"duplicates":%d,"rejected":1,"skipped":0,"waiting":1}`, records-2)) {
		t.Error(status, got)
	}
	if n := d.booked(); n != records-2 {
		t.Errorf("%d records are booked", n)
	}
}

func TestABodyOfASourceIsRefusedByName(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.source("carrier")
	d.source("paused")
	if _, err := d.sources.Switch(t.Context(), domain.Whole(d.company), "paused", true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		token, name, encoding string
		status                int
		want                  string
	}{
		{"poor", "carrier", "", 403, "FORBIDDEN"},
		{"none", "carrier", "", 401, "UNAUTHORIZED"},
		{"good", "nobody", "", 404, "nobody"},
		{"good", "paused", "", 503, "paused"},
		{"good", "carrier", "br", 400, "br"},
		{"good", "", "", 415, "?source="},
	} {
		if status, got := d.sendAs(c.token, c.name, strings.NewReader(header+rows(0, 1)), c.encoding); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %d %s", c, status, got)
		}
	}
	d.revoked.Store(true)
	if status, got := d.sendAs("good", "carrier", strings.NewReader(header+rows(0, 7000)), ""); status != 401 || !strings.Contains(got, "revoked") {
		t.Error(status, got)
	}
	if n := d.booked(); n != 5000 {
		t.Errorf("%d records are booked: a revoked token ends a body after the batch", n)
	}
}

// A body that is cut short by a server that stops is answered by 503, and can come again.
func TestABodyOfASourceEndsWithTheServer(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.source("carrier")
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, header+rows(0, 6000))
		for n := 0; n < 5000 && t.Context().Err() == nil; {
			_ = d.pool.Get(&n, `SELECT count(*) FROM usage_records WHERE company_id = $1`, d.company)
			time.Sleep(10 * time.Millisecond)
		}
		d.handler.Close(t.Context())
	}()
	status, got := d.sendAs("good", "carrier", in, "")
	if status != http.StatusServiceUnavailable || !strings.Contains(got, "the server stops") {
		t.Error(status, got)
	}
	if n := d.booked(); n != 5000 {
		t.Errorf("%d records are booked", n)
	}
}
