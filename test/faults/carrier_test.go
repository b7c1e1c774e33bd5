//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

const (
	carrierRows  = 10_000
	carrierFiles = 20
	// carrierBody is how many rows a body for the address of the source has.
	carrierBody = 2500
)

// connectCarrier makes a profile for a carrier's CSV and a source that has it.
const connectCarrier = `mutation ($fields: [SourceFieldExpressionInput!]!) {
  setSourceProfile(input: {profile: {name: "carrier", format: CSV, delimiter: ";", unit: KIB, timeZone: "Europe/Berlin", dateFormats: ["dd.MM.yyyy HH:mm:ss"], fields: $fields}}) { profile { version } }
  createSource(input: {name: "carrier", profileName: "carrier", authentication: BASIC}) { secret source { path } }
}`

var carrierFields = []map[string]string{
	{"field": "PHYSICAL_ID", "expression": `r["SIM no"]`}, {"field": "STARTED_AT", "expression": `r.Start`}, {"field": "VOLUME", "expression": `r.kB.replace(",", ".")`},
}

// carrierRow is a row as the carrier writes it: half a KiB and some whole ones, in local time,
// without an id.
func carrierRow(day time.Time, n int) string {
	return fmt.Sprintf("%s;%s;%d,5\n", physicalID(n%fleet), day.Add(time.Duration(n)*time.Second).Format("02.01.2006 15:04:05"), n%7)
}

func carrierBytes(n int) int { return n%7*1024 + 512 }

// carrier sends the same rows in all ways there are to two instances that are killed.
type carrier struct {
	*operating
	callers      []*caller
	day          time.Time
	path, secret string
	drop         string
	ended        atomic.Bool
}

func newCarrier(t *testing.T) *carrier {
	t.Helper()
	d := newDatabase(t)
	c := &carrier{operating: &operating{T: t, pool: d.open()}, drop: t.TempDir()}
	for range 2 {
		l := launch{databaseURL: d.url(), dataDir: t.TempDir(), addr: freeAddress(t), extra: []string{"--drop-dir", c.drop, "--drop-settled", "1s"}}
		// Secrets of sources are sealed by the key of the installation.
		if len(c.launches) > 0 {
			l.dataDir = c.launches[0].dataDir
		}
		c.launches, c.instances = append(c.launches, l), append(c.instances, serve(t, l))
		c.callers = append(c.callers, newCaller(t, c.instances[len(c.instances)-1].base))
	}
	y, m, day := time.Now().AddDate(0, 0, -1).Date()
	c.day = time.Date(y, m, day, 10, 0, 0, 0, time.UTC)
	var made struct {
		CreateSource struct {
			Secret string
			Source struct{ Path string }
		}
	}
	if c.callers[0].graph(t.Context(), connectCarrier, map[string]any{"fields": carrierFields}, &made) != done {
		t.Fatal(c.callers[0].wrong)
	}
	c.path, c.secret = made.CreateSource.Source.Path, made.CreateSource.Secret
	return c
}

// csv is a file with the rows.
func (c *carrier) csv(from, to int) string {
	var b strings.Builder
	b.WriteString("SIM no;Start;kB\n")
	for n := from; n < to; n++ {
		b.WriteString(carrierRow(c.day, n))
	}
	return b.String()
}

func (c *carrier) folder(below string) string {
	return filepath.Join(c.drop, "acme", "carrier", below)
}

// put writes a file as carriers do, under another name first.
func (c *carrier) put(name, text string) {
	c.Helper()
	temporary := c.folder("." + name)
	if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
		c.Error(err)
	}
	if err := os.Rename(temporary, c.folder(name)); err != nil {
		c.Error(err)
	}
}

// until sends again and again, to one instance after the other, until one answers that all is
// stored.
func (c *carrier) until(what string, send func(base string, by *caller) (int, []byte, error)) {
	var status int
	var text []byte
	var err error
	for deadline, n := time.Now().Add(patience), 0; time.Now().Before(deadline); n++ {
		of := n % 2
		if status, text, err = send("http://"+c.launches[of].addr, c.callers[of]); err == nil && status == http.StatusOK && !strings.Contains(string(text), `"error"`) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.Errorf("%s: %d %.300s, %v", what, status, text, err)
}

// sendBodies posts all rows to the address of the source, body by body.
func (c *carrier) sendBodies() {
	h := client(c.T)
	for from := 0; from < carrierRows; from += carrierBody {
		text := c.csv(from, from+carrierBody)
		c.until("the source", func(base string, _ *caller) (int, []byte, error) {
			r, err := http.NewRequestWithContext(c.Context(), http.MethodPost, base+c.path, strings.NewReader(text))
			if err != nil {
				return 0, nil, err
			}
			r.SetBasicAuth("any", c.secret)
			response, err := h.Do(r)
			if err != nil {
				return 0, nil, err
			}
			var counts map[string]int
			err = json.NewDecoder(response.Body).Decode(&counts)
			_ = response.Body.Close()
			if err == nil && response.StatusCode == http.StatusOK && counts["accepted"]+counts["duplicates"] != carrierBody {
				c.Errorf("the source: %v", counts)
			}
			return response.StatusCode, nil, err
		})
	}
}

// sendStream posts all rows in one body with a token.
func (c *carrier) sendStream() {
	text := c.csv(0, carrierRows)
	c.until("the stream", func(_ string, by *caller) (int, []byte, error) {
		response, answer, err := by.send(c.Context(), http.MethodPost, "/usage/records?source=carrier", "text/csv", []byte(text))
		if response == nil {
			return 0, nil, err
		}
		return response.StatusCode, answer, err
	})
}

// 10,000 rows of a carrier that gives no ids come as files and in two ways over HTTP, again and
// again while instances are killed. Each is booked once, and the totals are exact.
func TestACarrierSendsWhileInstancesAreKilled(t *testing.T) {
	t.Parallel()
	c := newCarrier(t)
	fatal.If(t, os.MkdirAll(c.folder(""), 0o755))
	var senders sync.WaitGroup
	for _, send := range []func(){c.sendBodies, c.sendStream} {
		senders.Go(func() {
			for !c.ended.Load() {
				send()
			}
			send() // once after the last kill
		})
	}
	for n := range carrierFiles {
		c.put(fmt.Sprintf("%02d.csv", n), c.csv(n*carrierRows/carrierFiles, (n+1)*carrierRows/carrierFiles))
	}
	for n := range 6 {
		received := func() int {
			return c.count(`SELECT coalesce(sum(accepted + duplicates), 0) FROM sources WHERE name = 'carrier'`)
		}
		before := received()
		eventually(t, "records come in", func() bool { return received() > before })
		c.instances[n%2].kill()
		c.put(fmt.Sprintf("again-%d.csv", n), c.csv(0, carrierRows))
		c.instances[n%2] = serve(t, c.launches[n%2])
	}
	c.ended.Store(true)
	senders.Wait()
	eventually(t, "all files are taken", func() bool {
		left, err := filepath.Glob(c.folder("*.csv"))
		return err == nil && len(left) == 0
	})
	if failed, err := filepath.Glob(c.folder("failed/*")); err != nil || len(failed) > 0 {
		t.Error(failed, err)
	}
	want := 0
	for n := range carrierRows {
		want += carrierBytes(n)
	}
	for what, sql := range map[string]string{
		"the ledger":        `SELECT sum(mobile_originated + mobile_terminated) FROM usage_records`,
		"the hours":         `SELECT sum(mobile_originated + mobile_terminated) FROM group_hours`,
		"the subscribers":   `SELECT sum(mobile_originated + mobile_terminated) FROM subscriber_periods`,
		"rows, as of bytes": `SELECT ` + fmt.Sprint(want) + ` * count(*) / ` + fmt.Sprint(carrierRows) + ` FROM usage_records`,
	} {
		if got := c.count(sql); got != want {
			t.Errorf("%s: %d bytes, want %d", what, got, want)
		}
	}
	if n := c.count(`SELECT count(*) FROM source_rejects`); n > 0 {
		t.Errorf("%d rejects", n)
	}
}
