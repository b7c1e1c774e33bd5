package bundle

import "simgraph/domain/source"

// profileRecord has the fields of a profile as the database keeps them; those with a default
// may be left out.
type profileRecord struct {
	Type    Type    `json:"type"`
	Company *string `json:"company"`
	source.Profile
}

func newProfileRecord(company string, p *source.Profile) *profileRecord {
	return &profileRecord{SourceProfile, &company, *p}
}

func (r *profileRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	need(&f, "name", unlessEmpty(r.Name))
	need(&f, "format", unlessEmpty(string(r.Format)))
	p := r.WithDefaults()
	return Item{Company: company, Value: &p}, f.check(p.Check)
}
