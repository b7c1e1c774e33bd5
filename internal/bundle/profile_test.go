package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"simgraph/domain/source"
)

// Of each profile the newest version is exported, also of one in whose place there is a ready
// one. In the other company it is the next version where it differs.
func TestProfilesOfSourcesAreRestored(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	ready := replace(goodProfile, `"carrier"`, `"1nce"`)
	for n, c := range []struct{ line, want string }{
		{goodProfile, "+1"}, {replace(goodProfile, `"KIB"`, `"KB"`), "~1"}, {replace(goodProfile, `"KIB"`, `"KB"`), "=1"}, {ready, "+1"},
	} {
		if got := from.load(goodLines[0], c.line); !strings.Contains(got, "source-profile "+c.want) {
			t.Errorf("%d: %s %v", n, got, from.bad)
		}
	}
	text := from.export("acme")
	if n := strings.Count(text, `"type":"source-profile"`); n != 2 || strings.Contains(text, `"KIB"`) != strings.Contains(text, `"name":"1nce"`) {
		t.Errorf("exported %s", text)
	}
	to.load(goodLines[0], goodProfile)
	if got := to.load(text); !strings.Contains(got, "source-profile +1 ~1") || len(to.bad) > 0 {
		t.Error(got, to.bad)
	}
	if restored := to.export("acme"); restored != text {
		t.Errorf("exported\n%s\nrestored\n%s", text, restored)
	}
	if versions := to.get(`SELECT string_agg(name || version, ' ' ORDER BY name, version) FROM source_profiles`); versions != "1nce1 carrier1 carrier2" {
		t.Error(versions)
	}
}

// A profile that cannot be used is a bad line, as one more than a company may have is.
func TestProfilesThatCannotBeUsedAreBadLines(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	lines := []string{goodLines[0], replace(goodProfile, `r.Start`, `r.`), replace(goodProfile, `dd.MM.yyyy HH:mm`, `HH:mm`), replace(goodProfile, `"acme"`, `"nobody"`)}
	for n := range source.MaxProfiles + 1 {
		lines = append(lines, replace(goodProfile, `"carrier"`, fmt.Sprintf(`"carrier %03d"`, n)))
	}
	if got := d.load(lines...); got != fmt.Sprintf("company +1, source-profile +%d !4", source.MaxProfiles) {
		t.Error(got)
	}
	for n, want := range []string{"2: STARTED_AT: the expression cannot be compiled", "3: a date format", `4: there is no company "nobody"`, fmt.Sprintf("%d: a company has at most", len(lines))} {
		if len(d.bad) != 4 || !strings.HasPrefix(d.bad[n], want) {
			t.Errorf("%q, not %s", d.bad, want)
		}
	}
}
