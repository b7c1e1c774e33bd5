package bundle

import (
	"github.com/google/uuid"

	"simgraph/domain"
)

type questionRecord struct {
	Type        Type    `json:"type"`
	Company     *string `json:"company"`
	ID          *string `json:"id"`
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Folder      *string `json:"folder"`
	Owner       *string `json:"owner"`
	definitionRecord
}

// definitionRecord is what a question asks.
type definitionRecord struct {
	Version    *int    `json:"version"`
	Measure    *string `json:"measure"`
	Interval   *string `json:"interval"`
	Split      *string `json:"split"`
	Chart      *string `json:"chart"`
	Span       *string `json:"span"`
	FirstDay   *string `json:"firstDay"`
	LastDay    *string `json:"lastDay"`
	Compare    *string `json:"compare"`
	GroupID    *int64  `json:"groupId"`
	TagName    *string `json:"tagName"`
	PhysicalID *string `json:"physicalId"`
}

func newQuestionRecord(company string, q *domain.Question) *questionRecord {
	return &questionRecord{Question, &company, &q.QuestionID, &q.Name, q.Description, q.Folder, unlessEmpty(q.Owner), newDefinitionRecord(&q.Definition)}
}

func newDefinitionRecord(d *domain.QuestionDefinition) definitionRecord {
	return definitionRecord{
		&d.Version, (*string)(&d.Measure), (*string)(&d.Interval), (*string)(d.Split), (*string)(&d.Chart), (*string)(&d.Span),
		d.FirstDay, d.LastDay, (*string)(d.Compare), d.GroupID, d.TagName, d.PhysicalID,
	}
}

// definition reads what a question asks.
func (r *definitionRecord) definition(f *fields) domain.QuestionDefinition {
	return domain.QuestionDefinition{
		Version: need(f, "version", r.Version), Measure: domain.QuestionMeasure(need(f, "measure", r.Measure)), Interval: domain.Unit(need(f, "interval", r.Interval)),
		Split: (*domain.QuestionSplit)(r.Split), Chart: domain.QuestionChart(need(f, "chart", r.Chart)), Span: domain.QuestionSpan(need(f, "span", r.Span)),
		FirstDay: r.FirstDay, LastDay: r.LastDay, Compare: (*domain.QuestionComparison)(r.Compare),
		GroupID: r.GroupID, TagName: r.TagName, PhysicalID: r.PhysicalID,
	}
}

func (r *questionRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	q := &domain.Question{
		QuestionID: need(&f, "id", r.ID), Name: need(&f, "name", r.Name), Description: r.Description, Folder: r.Folder,
		Owner: either(r.Owner, ""), IsShared: true,
		Definition: r.definition(&f),
	}
	return Item{Company: company, Value: q}, f.check(func() error {
		if err := checkKept(&q.QuestionID, q.Owner); err != nil {
			return err
		}
		return q.Check()
	})
}

// checkKept refuses what is no UUID, which it writes as usual, and an owner that is no e-mail
// address.
func checkKept(id *string, owner string) error {
	parsed, err := uuid.Parse(*id)
	if err != nil {
		return domain.Invalid("id", "id must be a UUID, not %.40q", *id)
	}
	*id = parsed.String()
	if owner == "" {
		return nil
	}
	return domain.CheckEmail("owner", owner)
}
