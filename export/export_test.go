package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

var sample = []column{
	{name: "zone"}, {name: "at", kind: moment}, {name: "bytes", kind: integer}, {name: "isActive", kind: boolean}, {name: "tags", kind: texts}, {name: "changes", kind: document},
}

var madeAt = time.Date(2026, 11, 1, 10, 0, 0, 250_000, time.UTC)

func sampleRow(name string) []cell {
	return []cell{{text: name}, {number: madeAt.UnixMicro()}, {number: 1 << 62}, {number: 1}, {list: []string{"a", `b"c`}}, {text: `[{"field":"x"}]`}}
}

var nothing = []cell{{isNull: true}, {isNull: true}, {isNull: true}, {isNull: true}, {}, {isNull: true}}

// write is a file of those rows.
func write(t *testing.T, format string, spreadsheet bool, rows ...[]cell) (file []byte, summary Summary) {
	t.Helper()
	var to bytes.Buffer
	out := newEncoder(format, &to, sample, spreadsheet)
	fatal.If(t, out.begin(header{Export: "usage", Company: "acme", Name: `Acme, "Ltd"`, TimeZone: "Europe/London", MadeAt: madeAt, CompleteUntil: &madeAt}))
	for _, row := range rows {
		fatal.If(t, out.row(row))
	}
	summary = Summary{Rows: int64(len(rows)), After: "here"}
	var err error
	summary.Bytes, summary.SHA256, err = out.sum()
	fatal.If(t, err)
	fatal.If(t, out.end(summary))
	return to.Bytes(), summary
}

func TestTheChecksumIsThatOfTheFileBeforeItsEnd(t *testing.T) {
	t.Parallel()
	for _, format := range Formats {
		file, summary := write(t, format, false, sampleRow("one"), nothing)
		sum := sha256.Sum256(file[:summary.Bytes])
		if hex.EncodeToString(sum[:]) != summary.SHA256 || !bytes.Contains(file[summary.Bytes:], []byte(summary.SHA256)) {
			t.Errorf("%s: %v is not the checksum of its first bytes", format, summary)
		}
	}
}

func TestCSVHasTheValuesAndIsGuarded(t *testing.T) {
	t.Parallel()
	names := map[string]string{"=1+1": "'=1+1", "+44": "'+44", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", `a "b", c` + "\r\nd": `a "b", c` + "\nd", "": "", "x y": "x y", "8944500000000000001": "8944500000000000001"}
	for name, want := range names {
		file, _ := write(t, CSV, false, sampleRow(name), nothing)
		reader := csv.NewReader(bytes.NewReader(file))
		reader.FieldsPerRecord = -1
		records, err := reader.ReadAll()
		fatal.If(t, err)
		if got := strings.Join(records[2], "|"); got != want+`|2026-11-01T10:00:00.00025Z|4611686018427387904|true|["a","b\"c"]|[{"field":"x"}]` {
			t.Errorf("%q: %s", name, got)
		}
		if got := strings.Join(records[3], "|"); got != "|||||" {
			t.Errorf("no values are written as %s", got)
		}
		if records[0][0] != "#usage" || records[0][1] != `Acme, "Ltd" (acme)` || records[4][0] != "#end" || records[4][1] != "rows=2" || records[4][4] != "after=here" {
			t.Errorf("the first record is %q, the last %q", records[0], records[4])
		}
	}
	file, _ := write(t, CSV, true, sampleRow("8944500000000000001"), sampleRow("-1"))
	if !bytes.Contains(file, []byte("\r\n\"=\"\"8944500000000000001\"\"\",2026")) || !bytes.Contains(file, []byte("\r\n'-1,")) {
		t.Errorf("for spreadsheets: %s", file)
	}
}

func TestNDJSONHasTheValues(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", `a "b" \ ` + "\n\x00é"} {
		file, _ := write(t, NDJSON, false, sampleRow(name), nothing)
		lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
		if len(lines) != 4 {
			t.Fatalf("%s", file)
		}
		var first struct {
			Zone    string
			At      time.Time
			Bytes   int64
			Tags    []string
			Changes []any
		}
		fatal.If(t, json.Unmarshal(lines[1], &first))
		if first.Zone != name || !first.At.Equal(madeAt) || first.Bytes != 1<<62 || len(first.Tags) != 2 || len(first.Changes) != 1 {
			t.Errorf("%s", lines[1])
		}
		if string(lines[2]) != `{"zone":null,"at":null,"bytes":null,"isActive":null,"tags":[],"changes":null}` {
			t.Errorf("%s", lines[2])
		}
		if !bytes.HasPrefix(lines[0], []byte(`{"export":{`)) || !bytes.HasPrefix(lines[3], []byte(`{"end":{"rows":2,`)) {
			t.Errorf("%s", file)
		}
	}
}

func TestParquetHasTheColumnsInTheirOrderAndGroups(t *testing.T) {
	t.Parallel()
	rows := make([][]cell, 0, rowGroup+2)
	for range rowGroup {
		rows = append(rows, sampleRow("one"))
	}
	data, summary := write(t, Parquet, false, append(rows, nothing, sampleRow("last"))...)
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	fatal.If(t, err)
	for i, field := range file.Schema().Fields() {
		if field.Name() != sample[i].name {
			t.Errorf("column %d is %s", i, field.Name())
		}
	}
	if groups := file.RowGroups(); len(groups) != 2 || groups[0].NumRows() != rowGroup {
		t.Errorf("%d groups", len(groups))
	}
	if sum, _ := file.Lookup("simgraph.sha256"); sum != summary.SHA256 {
		t.Errorf("the checksum is %s", sum)
	}
	if until, _ := file.Lookup("simgraph.completeUntil"); until != "2026-11-01T10:00:00Z" {
		t.Errorf("usage is known until %s", until)
	}
	reader := parquet.NewReader(file)
	fatal.If(t, reader.SeekToRow(rowGroup))
	read := make([]parquet.Row, 2)
	if n, err := reader.ReadRows(read); n != 2 || err != nil && err != io.EOF { //nolint:errorlint // as documented
		t.Fatal(n, err)
	}
	if !read[0][0].IsNull() || read[1][0].String() != "last" || read[1][1].Int64() != madeAt.UnixMicro() || read[1][2].Int64() != 1<<62 || len(read[1]) != 7 {
		t.Errorf("%v", read)
	}
	if _, err := parquet.OpenFile(bytes.NewReader(data[:len(data)-100]), int64(len(data)-100)); err == nil {
		t.Error("a file that was cut can be opened")
	}
}

func TestTheFormatIsNamedOrAccepted(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"": CSV, "*/*": CSV, "text/html,application/xhtml+xml,*/*;q=0.8": CSV, "application/x-ndjson": NDJSON, "application/json, application/vnd.apache.parquet;q=0.5": Parquet,
		"text/csv": CSV, "application/json": "",
	} {
		if got, err := formatOf(url.Values{}, []string{accept}); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is answered as %q, %v", accept, got, err)
		}
	}
	for query, is := range map[string]bool{
		"format=parquet": true, "format=PARQUET": false, "format=": false, "format=csv&format=csv": false, "unknown=1": false, "spreadsheet=yes": false, "format=ndjson&spreadsheet=true": false,
		"by=SUBSCRIBER,TAG": true, "by=TAG,GROUP": false, "by=TARIFF": true, "by=SOURCE": false, "by=IP_ADDRESS": false, "by=,TAG": false, "interval=YEAR": false, "group=0": false, "group=x": false, "filter={}": true, "filter=[]": false,
		"filter={}{}": false, "filter=x": false, "%zz": false,
	} {
		request, err := http.NewRequest(http.MethodGet, "/export/usage?"+query, nil)
		if err == nil {
			_, err = read(request)
		} else {
			_, err = read(&http.Request{URL: &url.URL{Path: "/export/usage", RawQuery: query}})
		}
		if _, isDomain := domain.AsError(err); (err == nil) != is || err != nil && !isDomain {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// The rights are checked again and again: an export ends at the first check after they did.
func TestAnExportEndsWhenItsRightsDo(t *testing.T) {
	t.Parallel()
	revoked := errors.New("revoked")
	for at, want := range map[int64]int64{0: 0, 1: checkRows, checkRows: checkRows, checkRows + 1: 2 * checkRows, 3*checkRows - 1: 3 * checkRows} {
		now, rights := madeAt, error(nil)
		r := &Running{checked: now, Exporter: &Exporter{Config: Config{
			Now: func() time.Time { return now }, StillValid: func(context.Context) error { return rights },
		}}}
		out := newEncoder(CSV, io.Discard, sample, false)
		fatal.If(t, out.begin(header{}))
		var err error
		for n := int64(0); err == nil && n <= want; n++ {
			if n == at {
				now, rights = now.Add(checkEvery), revoked
			}
			err = r.row(t.Context(), out, nothing)
		}
		if !errors.Is(err, revoked) || r.summary.Rows != want {
			t.Errorf("the rights ended before row %d: %d rows were written, not %d; %v", at, r.summary.Rows, want, err)
		}
	}
}
