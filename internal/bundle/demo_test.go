package bundle_test

import (
	"bytes"
	"strings"
	"testing"

	"simgraph/internal/bundle"
	"simgraph/internal/demo"
	"simgraph/internal/fatal"
)

// demoLines is a made-up company.
func demoLines(t *testing.T, subscribers, days int) []string {
	t.Helper()
	var b bytes.Buffer
	w := bundle.NewWriter(&b)
	for item := range demo.Items(demo.Options{Company: "demo", Subscribers: subscribers, Days: days, Seed: 1, Until: now}) {
		fatal.If(t, w.Write(item))
	}
	fatal.If(t, w.Flush())
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

func TestEveryLineOfTheDemoIsStored(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	got := from.load(demoLines(t, 200, 5)...)
	if from.bad != nil || !strings.Contains(got, "subscriber +200") {
		t.Errorf("%s %v", got, from.bad)
	}
	exported := from.export("demo")
	to.load(strings.Split(strings.TrimSpace(exported), "\n")...)
	if to.bad != nil || to.export("demo") != exported {
		t.Errorf("the export is not restored: %v", to.bad)
	}
}
