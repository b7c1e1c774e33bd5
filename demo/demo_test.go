package demo_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"simgraph/bundle"
	"simgraph/demo"
)

var until = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

func write(t testing.TB, o demo.Options) []byte {
	t.Helper()
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := bundle.NewWriter(&b)
	for item := range demo.Items(o) {
		if err := w.Write(item); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryLineIsAccepted(t *testing.T) {
	r := bundle.NewReader(bytes.NewReader(write(t, demo.Options{Company: "demo", Subscribers: 500, Days: 3, Seed: 1, Until: until})))
	for {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("line %d: %v", r.Line(), err)
		}
	}
}

func BenchmarkInventory(b *testing.B) {
	for b.Loop() {
		b.SetBytes(int64(len(write(b, demo.Options{Company: "demo", Subscribers: 20000, Days: 0, Seed: 1, Until: until}))))
	}
}
func BenchmarkUsage(b *testing.B) {
	for b.Loop() {
		n := 0
		for range demo.Items(demo.Options{Company: "demo", Subscribers: 2000, Days: 10, Seed: 1, Until: until}) {
			n++
		}
		b.ReportMetric(float64(n), "lines")
		b.SetBytes(int64(len(write(b, demo.Options{Company: "demo", Subscribers: 2000, Days: 10, Seed: 1, Until: until}))))
	}
}
