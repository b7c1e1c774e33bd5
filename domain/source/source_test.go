package source_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/domain/source"
)

func placeOf(err error) string {
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalid {
		return fault.Place()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestASourceThatBreaksARuleIsRefusedByTheField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		spec source.Spec
		want string
	}{
		{"a password", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Basic}, ""},
		{"a token", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Bearer}, ""},
		{"a signature", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: "X-Hub-Signature-256"}, ""},
		{"no name", source.Spec{Profile: "ready", Authentication: source.Basic}, "name"},
		{"no profile", source.Spec{Name: "pgw", Authentication: source.Basic}, "profileName"},
		{"no authentication", source.Spec{Name: "pgw", Profile: "ready"}, "authentication"},
		{"another one", source.Spec{Name: "pgw", Profile: "ready", Authentication: "digest"}, "authentication"},
		{"a header for a password", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Basic, SignatureHeader: "X"}, "signatureHeader"},
		{"a header for a token", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Bearer, SignatureHeader: "X"}, "signatureHeader"},
		{"a signature without a header", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature}, "signatureHeader"},
		{"64 characters", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: strings.Repeat("x", 64)}, ""},
		{"65 characters", source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: strings.Repeat("x", 65)}, "signatureHeader"},
	} {
		if got := placeOf(c.spec.Check()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A header has letters, digits and hyphens: each other byte is refused.
func TestAHeaderIsOneThatHTTPHas(t *testing.T) {
	t.Parallel()
	for n := range 256 {
		spec := source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: string([]byte{'X', byte(n)})}
		known := strings.IndexByte("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", byte(n)) >= 0
		if got := placeOf(spec.Check()); (got == "") != known {
			t.Errorf("%q: %q", spec.SignatureHeader, got)
		}
	}
}

func TestAnEditOfASource(t *testing.T) {
	t.Parallel()
	basic := source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Basic}
	signed := source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: "X-Mine"}
	for _, c := range []struct {
		name   string
		before source.Spec
		edit   source.Edit
		want   source.Spec
	}{
		{"nothing", signed, source.Edit{}, signed},
		{"the profile", signed, source.Edit{Profile: new("other")}, source.Spec{Name: "pgw", Profile: "other", Authentication: source.Signature, SignatureHeader: "X-Mine"}},
		{"from a signature to a password", signed, source.Edit{Authentication: new(source.Basic)}, basic},
		{"from a password to a signature", basic, source.Edit{Authentication: new(source.Signature)}, source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: "X-Signature"}},
		{"a signature again", signed, source.Edit{Authentication: new(source.Signature)}, source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: "X-Signature"}},
		{"the header", signed, source.Edit{SignatureHeader: new("X-Yours")}, source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: "X-Yours"}},
		{"the usual header", signed, source.Edit{SignatureHeader: new("")}, source.Spec{Name: "pgw", Profile: "ready", Authentication: source.Signature, SignatureHeader: "X-Signature"}},
	} {
		got := c.edit.Apply(c.before)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if isSame := got.Version() == c.before.Version(); isSame != (got == c.before) {
			t.Errorf("%s: the version is the same: %v", c.name, isSame)
		}
		if place := placeOf(c.edit.Check()); place != "" {
			t.Errorf("%s: %s", c.name, place)
		}
	}
	for want, edit := range map[string]source.Edit{
		"profileName": {Profile: new("")}, "authentication": {Authentication: new(source.Authentication("digest"))},
		"signatureHeader": {Authentication: new(source.Bearer), SignatureHeader: new("X")},
	} {
		if got := placeOf(edit.Check()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestASecretIsNewEachTime(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		secret := string(source.NewSecret())
		if !strings.HasPrefix(secret, "sgs_") || len(secret) < len("sgs_")+52 || seen[secret] { // 52 characters of 5 bits
			t.Fatalf("%q", secret)
		}
		seen[secret] = true
	}
}

func TestTheAddressOfASource(t *testing.T) {
	t.Parallel()
	if got := (&source.Source{SourceID: "1-abc"}).Path(); got != "/sources/1-abc/records" {
		t.Error(got)
	}
}

func TestARejectSaysWhyAndHidesInternalErrors(t *testing.T) {
	t.Parallel()
	from := &source.Opened{Source: source.Source{SourceID: "1-abc", Spec: source.Spec{Name: "pgw"}}}
	for _, c := range []struct {
		why           error
		reason, field string
	}{
		{domain.Invalid("MSISDN", "there is no subscriber"), "there is no subscriber", "MSISDN"},
		{errors.New("pq: connection refused"), "the record cannot be read", ""},
	} {
		got := from.NewReject(`{"a":1}`, true, c.why)
		if got.Reason != c.reason || got.Field != c.field || got.SourceName != "pgw" || got.Payload != `{"a":1}` || !got.IsRecord || got.Times != 1 {
			t.Errorf("%+v", got)
		}
	}
	reject := from.NewReject(`{"a":1}`, true, domain.Invalid("MSISDN", "there is no subscriber"))
	before, replayed := reject.Digest, &source.Replayed{}
	replayed.Reject(&reject, errors.New("pq: connection refused"))
	if reject.Reason != "the record cannot be read" || reject.Field != "" || reject.Digest != before {
		t.Errorf("%+v", reject)
	}
	if replayed.Counts != (source.Counts{Rejected: 1}) || len(replayed.Rejected) != 1 || replayed.Rejected[0] != &reject {
		t.Errorf("%+v", replayed)
	}
}

// Two rejects are the same one where the source and the payload are equal and, of what is no record, the reason.
func TestTheSameRecordIsOneReject(t *testing.T) {
	t.Parallel()
	type input struct {
		source, payload, reason string
		isRecord                bool
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func() input {
			text := rapid.SampledFrom([]string{"", "a", "b", "\x00", "a\x00b"})
			return input{rapid.SampledFrom([]string{"1-a", "1-b"}).Draw(t, "source"), text.Draw(t, "payload"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "reason"), rapid.Bool().Draw(t, "record")}
		}
		idOf := func(of input) string {
			from := &source.Opened{Source: source.Source{SourceID: of.source}}
			reject := from.NewReject(of.payload, of.isRecord, domain.Invalid("field", "%s", of.reason))
			return reject.ID()
		}
		one, two := draw(), draw()
		if one.isRecord {
			one.reason = ""
		}
		if two.isRecord {
			two.reason = ""
		}
		if isSame := idOf(one) == idOf(two); isSame != (one == two) {
			t.Fatalf("%+v and %+v: %v", one, two, isSame)
		}
	})
}

// Counts that are added one by one, in any order, are the sum.
func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sum, back source.Counts
		var all []source.Counts
		want := [5]int64{}
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			var c [5]int64
			for i := range c {
				c[i] = rapid.Int64Range(0, 1_000_000).Draw(t, "count")
				want[i] += c[i]
			}
			all = append(all, source.Counts{Accepted: c[0], Duplicates: c[1], Waiting: c[2], Rejected: c[3], Skipped: c[4]})
		}
		for i := range all {
			sum.Add(all[i])
			back.Add(all[len(all)-1-i])
		}
		if got := [5]int64{sum.Accepted, sum.Duplicates, sum.Waiting, sum.Rejected, sum.Skipped}; got != want || sum != back {
			t.Fatalf("%+v and %+v, want %v", sum, back, want)
		}
	})
}
