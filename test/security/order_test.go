package security

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// refused are values of the scalars that fields refuse whatever else there is.
var refused = map[string][]string{
	"Int":      {`-2147483648`, `2147483647`},
	"BigInt":   {`-9223372036854775808`},
	"DateTime": {`"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`},
	"String":   {`""`, `"\u0000"`, `"` + strings.Repeat("x", 5_000) + `"`},
}

// relative are times, by their years, that are wrong only beside what is stored: to find
// it out is to look it up.
var relative = map[string]string{
	"terminateSubscriber.input.terminateDate 0001": "the begin of the contract",
	"editSubscriber.input.expiryDate 0001":         "the begin of the contract",
	"editSubscriber.input.connectionDate 9999":     "the end of the contract",
	"editSilence.input.endsAt 9999":                "the begin of the silence",
}

// A mutation with an identifier of nothing and a value that it refuses answers what is wrong
// with the value: what a caller can mend without knowing what there is comes first.
func TestBadValuesAreRefusedBeforeIdentifiersAreLookedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// All are made before the first value is sent: nothing follows the highest group.
	var probes []probe
	for _, field := range visibleFields(w.schema.Mutation) {
		probes = append(probes, w.probe(field, w.fresh(t), walker{schema: w.schema, depth: 1}))
	}
	tried := 0
	for _, p := range probes {
		tried += w.refuseFirst(t, p)
	}
	if tried < 40 {
		t.Errorf("only %d values were refused: the test finds too little", tried)
	}
}

// refuseFirst compares what the mutation answers to bad values beside identifiers of the
// caller's own, and beside those of nothing; it returns how many values were refused.
func (w *world) refuseFirst(t *testing.T, p probe) (tried int) {
	t.Helper()
	nothing := w.probe(p.field, w.victim(t, nobody), walker{schema: w.schema, depth: 1})
	leaves := w.leavesOf(t, p.field)
	for _, l := range leaves {
		if l.rule != harmless && l.def.Name() == "Int" {
			continue // any number may be the identifier of something
		}
		for _, value := range refused[l.def.Name()] {
			place := p.name + "." + strings.Join(slices.DeleteFunc(slices.Clone(l.path), func(step string) bool { return step == alone }), ".")
			if l.def.Name() == "DateTime" && relative[place+" "+value[1:5]] != "" {
				continue
			}
			found := w.firstError(t, p.document, with(p.variables, l.path, json.RawMessage(value), l.isList))
			if found.Extensions.Code != "INVALID_PARAMETER" {
				continue
			}
			// An operation that has ended is refused with any reason.
			if slices.ContainsFunc(leaves, func(other leaf) bool {
				return other.rule != harmless && other.name() == found.Extensions.Field && other.name() != l.name()
			}) {
				continue
			}
			tried++
			missing := w.firstError(t, nothing.document, with(nothing.variables, l.path, json.RawMessage(value), l.isList))
			if missing.Extensions != found.Extensions {
				t.Errorf("%s: %.40s is refused by %q; beside identifiers of nothing it answers %q", place, value, found.Message, missing.Message)
			}
		}
	}
	return tried
}

func (w *world) firstError(t *testing.T, document string, variables map[string]any) (first graphError) {
	t.Helper()
	if all := w.query(t, w.tokens["own-admin@acme.example"], document, variables).graphErrors(t); len(all) > 0 {
		first = all[0]
	}
	return first
}
