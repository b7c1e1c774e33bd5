package bundle

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain"
	"simgraph/domain/query"
)

type membershipRecord struct {
	Type       Type    `json:"type"`
	Company    *string `json:"company"`
	PhysicalID *string `json:"physicalId"`
	Since      *string `json:"since"`
	GroupID    *int64  `json:"groupId"`
}

func newMembershipRecord(company string, m domain.Membership) *membershipRecord {
	return &membershipRecord{Membership, &company, &m.PhysicalID, new(writeTime(m.Since)), m.GroupID}
}

func (r *membershipRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	m := domain.Membership{PhysicalID: need(&f, "physicalId", r.PhysicalID), GroupID: r.GroupID}
	need(&f, "since", r.Since)
	err := f.check(func() (err error) {
		if m.Since, err = domain.ParseInstant("since", *r.Since); err != nil {
			return err
		}
		return m.Check()
	})
	return Item{Company: company, Value: m}, err
}

type tagRecord struct {
	Type       Type    `json:"type"`
	Company    *string `json:"company"`
	PhysicalID *string `json:"physicalId"`
	TagName    *string `json:"tagName"`
}

func newTagRecord(company string, t domain.TagImport) *tagRecord {
	return &tagRecord{Tag, &company, &t.PhysicalID, (*string)(&t.TagName)}
}

func (r *tagRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	t := domain.TagImport{PhysicalID: need(&f, "physicalId", r.PhysicalID)}
	need(&f, "tagName", r.TagName)
	err := f.check(func() (err error) {
		if t.TagName, err = domain.NewTagName(*r.TagName); err != nil {
			return err
		}
		return domain.CheckPhysicalID(t.PhysicalID)
	})
	return Item{Company: company, Value: t}, err
}

type alertRecord struct {
	Type     Type    `json:"type"`
	Company  *string `json:"company"`
	RuleType *string `json:"ruleType"`
	// Target is a text; a number for a group, missing or null for the company.
	Target         jsontext.Value `json:"target"`
	LowerThreshold *int64         `json:"lowerThreshold"`
	UpperThreshold *int64         `json:"upperThreshold"`
	Name           *string        `json:"name,omitempty"`
	Description    *string        `json:"description,omitempty"`
}

func newAlertRecord(company string, a domain.AlertSpec) *alertRecord {
	target, _ := jsontext.AppendQuote(nil, a.Target) // targets are valid UTF-8
	return &alertRecord{Alert, &company, (*string)(&a.RuleType), target, &a.LowerThreshold, &a.UpperThreshold, a.Name, a.Description}
}

func (r *alertRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	a := domain.AlertSpec{
		RuleType:       domain.RuleType(need(&f, "ruleType", r.RuleType)),
		LowerThreshold: need(&f, "lowerThreshold", r.LowerThreshold), UpperThreshold: need(&f, "upperThreshold", r.UpperThreshold),
		AlertWords: domain.AlertWords{Name: r.Name, Description: r.Description},
	}
	err := f.check(func() (err error) {
		if a.Target, err = r.target(a.RuleType); err != nil {
			return err
		}
		return a.Check()
	})
	return Item{Company: company, Value: a}, err
}

func (r *alertRecord) target(rule domain.RuleType) (string, error) {
	switch kind := r.Target.Kind(); {
	case len(r.Target) == 0, kind == 'n':
		return "", nil
	case kind == '"':
		text, err := jsontext.AppendUnquote(nil, r.Target)
		return string(text), err
	case kind == '0' && rule.OfGroup():
		id, ok := query.ParseInteger(string(r.Target), 64)
		if !ok {
			return "", domain.Invalid("target", "target: a groupId is expected, not %s", clip(string(r.Target)))
		}
		return strconv.FormatInt(id, 10), nil
	}
	return "", domain.Invalid("target", "target: a text is expected")
}

type recipientRecord struct {
	Type    Type    `json:"type"`
	Company *string `json:"company"`
	Email   *string `json:"email"`
}

func newRecipientRecord(company, email string) *recipientRecord {
	return &recipientRecord{Recipient, &company, &email}
}

func (r *recipientRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	email := need(&f, "email", r.Email)
	return Item{Company: company, Value: email}, f.check(func() error { return domain.CheckEmail("email", email) })
}
