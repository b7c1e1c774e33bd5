package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"simgraph/internal/bundle"
)

// usageLines reads a stream to its end: the lines with the texts of their errors.
func usageLines(t *testing.T, in io.Reader) (lines []bundle.UsageLine, faults []string) {
	t.Helper()
	for r := bundle.NewUsageReader(in); ; {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines, faults
		}
		fault := ""
		if err != nil {
			bad, ok := errors.AsType[*bundle.LineError](err)
			if !ok || bad.Line != line.Line || line.Bytes != 0 {
				t.Fatalf("%+v: %v", line, err)
			}
			fault = err.Error()
		}
		lines, faults = append(lines, line), append(faults, fault)
	}
}

// A stream of usage is read the same however it comes in, line by line in their order, and a
// line at fault costs no other.
func FuzzUsageReader(f *testing.F) {
	const good = `{"source":"pgw","recordId":"1","physicalId":"8944500102198300012","sessionId":"s","startedAt":"2026-11-01T00:00:00Z",` +
		`"endedAt":"2026-11-01T00:00:01Z","mobileOriginated":1,"mobileTerminated":2,"protocol":"TCP","ipAddress":"10.0.0.1"}`
	for _, text := range []string{
		good, good + "\n" + good + "\r\n", "\xef\xbb\xbf" + good, "\n\n{}\n" + good, "[]\nnull\n" + good, good[:40], good + good, `{"type":"tag"}`,
		`{"type":"usage","company":"acme","mobileOriginated":1e400000000}`, `{"source":"\ud800"}`, `{"source":"a","source":"b"}`, "\x00\xff\n",
		`{"imsi":"234150000000001","startedAt":"0000-00-00T00:00:00Z","counters":{"bytesIn":-1}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines, faults := usageLines(t, bytes.NewReader(text))
		for i, line := range lines {
			if i > 0 && line.Line <= lines[i-1].Line || line.Line > bytes.Count(text, []byte("\n"))+1 {
				t.Fatalf("line %d comes after %d lines", line.Line, i)
			}
			if faults[i] == "" && (line.Bytes == 0 || line.Bytes > bundle.MaxLine) {
				t.Errorf("line %d has %d bytes", line.Line, line.Bytes)
			}
		}
		again, same := usageLines(t, iotest.OneByteReader(bytes.NewReader(text)))
		if !reflect.DeepEqual(lines, again) || !reflect.DeepEqual(faults, same) {
			t.Errorf("%v %q\n, and byte by byte %v %q", lines, faults, again, same)
		}
		// Lines before and after do not matter.
		around, marks := usageLines(t, io.MultiReader(bytes.NewReader([]byte("{}\n")), bytes.NewReader(text), bytes.NewReader([]byte("\n"+good))))
		if n := len(around); n == 0 || marks[n-1] != "" {
			t.Errorf("a good line after %q: %q", text, marks)
		}
	})
}
