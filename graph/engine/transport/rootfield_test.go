package transport_test

import (
	"strings"
	"testing"
)

// eventErrors are subscriptions whose events hold errors, with their paths.
var eventErrors = map[string]string{
	`subscription{flood{id broken}}`:                                                              `"path":["flood","broken"]`,
	`subscription{f:flood{related(first:1){nodes{broken}}}}`:                                      `"path":["f","related","nodes",0,"broken"]`,
	`subscription S{...F} fragment F on Subscription{...{alias:flood{related{nodes{b:broken}}}}}`: `"path":["alias","related","nodes",0,"b"]`,
	`subscription{refused}`:                                                                       `"path":["refused"]`,
	`subscription{r:refused}`:                                                                     `"path":["r"]`,
}

func TestErrorsOfEventsNameTheRootFieldOnWebSockets(t *testing.T) {
	b := newBench(t, nil)
	for query, path := range eventErrors {
		w := b.ready()
		w.send(`{"type":"subscribe","id":"1","payload":{"query":"` + query + `"}}`)
		w.expect(`"id":"1"`, path)
	}
}

func TestErrorsOfEventsNameTheRootFieldInStreams(t *testing.T) {
	b := newBench(t, nil)
	for query, path := range eventErrors {
		lines, cancel := b.open(query)
		until(t, lines, "data: {")
		if line := lines.Text(); !strings.Contains(line, path) {
			t.Errorf("%s: %s", query, line)
		}
		cancel()
	}
	b.noStreams()
}
