package bundle

import (
	"simgraph/domain"
	"simgraph/domain/note"
)

type noteRecord struct {
	Type       Type    `json:"type"`
	Company    *string `json:"company"`
	ID         *string `json:"id"`
	Text       *string `json:"text"`
	StartsAt   *string `json:"startsAt"`
	EndsAt     *string `json:"endsAt"`
	GroupID    *int64  `json:"groupId"`
	PhysicalID *string `json:"physicalId"`
	Owner      *string `json:"owner"`
}

func newNoteRecord(company string, n *note.Note) *noteRecord {
	r := &noteRecord{
		Type: Note, Company: &company, ID: &n.NoteID, Text: &n.Text, StartsAt: new(writeTime(n.StartsAt)), GroupID: n.GroupID, PhysicalID: n.PhysicalID, Owner: unlessEmpty(n.Owner),
	}
	if n.EndsAt != nil {
		r.EndsAt = new(writeTime(*n.EndsAt))
	}
	return r
}

func (r *noteRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	n := &note.Note{NoteID: need(&f, "id", r.ID), Text: need(&f, "text", r.Text), GroupID: r.GroupID, PhysicalID: r.PhysicalID, Owner: either(r.Owner, "")}
	need(&f, "startsAt", r.StartsAt)
	return Item{Company: company, Value: n}, f.check(func() (err error) {
		if err := checkKept(&n.NoteID, n.Owner); err != nil {
			return err
		}
		if n.StartsAt, err = domain.ParseInstant("startsAt", *r.StartsAt); err != nil {
			return err
		}
		if r.EndsAt != nil {
			end, err := domain.ParseInstant("endsAt", *r.EndsAt)
			if err != nil {
				return err
			}
			n.EndsAt = &end
		}
		*n, err = n.Checked()
		return err
	})
}
