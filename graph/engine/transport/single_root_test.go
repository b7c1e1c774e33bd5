package transport_test

import (
	"strings"
	"testing"
)

// What the specification of September 2025 refuses must not reach the executor,
// whose errors are internal ones in the log.
func TestASubscriptionHasOneRootField(t *testing.T) {
	b := newBench(t, nil)
	for _, query := range []string{
		`subscription{count(to:2)@skip(if:false)}`,
		`subscription{count(to:2)@include(if:true)}`,
		`subscription{...@include(if:true){count(to:2)}}`,
		`subscription{...F@skip(if:false)}fragment F on Subscription{count(to:2)}`,
		`subscription{...F}fragment F on Subscription{count(to:2)@skip(if:false)}`,
		`subscription{count(to:2) other:count(to:2)}`,
		`subscription{count(to:2)...F}fragment F on Subscription{other:count(to:2)}`,
		`subscription{count(to:2) forever}`,
		`subscription{__typename}`,
		`subscription{count(to:2) ...{__typename}}`,
	} {
		if got := b.events(query); !strings.Contains(got.body, "GRAPHQL_VALIDATION_FAILED") || strings.Contains(got.body, "INTERNAL_ERROR") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	// One field of the answer may be selected in several places.
	for _, query := range []string{
		`subscription{count(to:1) count(to:1)}`,
		`subscription{count(to:1)...F...F}fragment F on Subscription{count(to:1)}`,
		`subscription{n:count(to:1)...{n:count(to:1)}}`,
	} {
		if got := b.events(query); !strings.Contains(got.body, `:1}`) || strings.Contains(got.body, "errors") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	if log := b.log.String(); strings.Contains(log, "ERROR") {
		t.Error(log)
	}
}
