package note_test

import (
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/note"
)

func TestNotesAreHeldToTheRulesOfTheirFields(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		field  string
		change func(*note.Note)
	}{
		{"", func(*note.Note) {}},
		{"", func(n *note.Note) { n.Text = strings.Repeat("é", note.MaxText) }},
		{"", func(n *note.Note) { n.Text = strings.Repeat("e\u0301", note.MaxText) }}, // in NFC as many as above
		{"text", func(n *note.Note) { n.Text = strings.Repeat("é", note.MaxText+1) }},
		{"text", func(n *note.Note) { n.Text = " " }},
		{"text", func(n *note.Note) { n.Text = "a\u202eb" }},
		{"startsAt", func(n *note.Note) { n.StartsAt = time.Time{} }},
		{"endsAt", func(n *note.Note) { n.EndsAt = &noon }},
		{"endsAt", func(n *note.Note) { n.EndsAt = new(noon.AddDate(200, 0, 0)) }},
		{"groupId", func(n *note.Note) { n.GroupID = new(int64(0)) }},
		{"groupId", func(n *note.Note) { n.GroupID, n.PhysicalID = new(int64(1)), new("p") }},
		{"physicalId", func(n *note.Note) { n.PhysicalID = new("") }},
	} {
		n := note.Note{Text: "new firmware", StartsAt: noon}
		c.change(&n)
		_, err := n.Checked()
		if refused, is := domain.AsError(err); (err == nil) != (c.field == "") || is && refused.Field != c.field {
			t.Errorf("%+v: %v, not of %q", n, err, c.field)
		}
	}
}
