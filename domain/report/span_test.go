package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

var update = flag.Bool("update", false, "write testdata")

// spanCase is a case that the page has, too: web/app/usage/span.test.ts.
type spanCase struct {
	TimeZone   string                     `json:"timeZone"`
	BillingDay int                        `json:"billingDay"`
	Now        time.Time                  `json:"now"`
	Span       domain.QuestionSpan        `json:"span"`
	FirstDay   *string                    `json:"firstDay,omitempty"`
	LastDay    *string                    `json:"lastDay,omitempty"`
	Compare    *domain.QuestionComparison `json:"compare,omitempty"`
	// Period is the billing period at the time.
	Period [2]time.Time `json:"period"`
	// Want are the span and that before it.
	Want      []time.Time `json:"want"`
	IsRunning bool        `json:"isRunning"`
}

func TestSpansAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/spans.json")
	fatal.If(t, err)
	var cases []spanCase
	fatal.If(t, json.Unmarshal(text, &cases))
	for i, c := range cases {
		billing, err := domain.NewBilling(c.BillingDay, c.TimeZone)
		fatal.If(t, err)
		period := billing.PeriodAt(c.Now)
		d := &domain.QuestionDefinition{Span: c.Span, FirstDay: c.FirstDay, LastDay: c.LastDay, Compare: c.Compare}
		asked := AskedOf(d, billing, period, c.Now)
		cases[i].Period, cases[i].IsRunning = [2]time.Time{period.Start, period.End}, asked.IsRunning
		cases[i].Want = []time.Time{asked.Start, asked.End}
		if asked.Before != nil {
			cases[i].Want = append(cases[i].Want, asked.Before.Start, asked.Before.End)
		}
	}
	var got bytes.Buffer
	got.WriteString("[\n")
	for i, c := range cases {
		line, err := json.Marshal(c)
		fatal.If(t, err)
		got.Write(line)
		if i < len(cases)-1 {
			got.WriteByte(',')
		}
		got.WriteByte('\n')
	}
	got.WriteString("]\n")
	if *update {
		fatal.If(t, os.WriteFile("testdata/spans.json", got.Bytes(), 0o600))
	} else if !bytes.Equal(got.Bytes(), text) {
		t.Error("spans are not those of testdata/spans.json, which are those of the page")
	}
}
