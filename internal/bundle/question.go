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
	Version     *int    `json:"version"`
	Measure     *string `json:"measure"`
	Interval    *string `json:"interval"`
	Split       *string `json:"split"`
	Chart       *string `json:"chart"`
	Span        *string `json:"span"`
	FirstDay    *string `json:"firstDay"`
	LastDay     *string `json:"lastDay"`
	Compare     *string `json:"compare"`
	GroupID     *int64  `json:"groupId"`
	TagName     *string `json:"tagName"`
	PhysicalID  *string `json:"physicalId"`
}

func newQuestionRecord(company string, q *domain.Question) *questionRecord {
	d := &q.Definition
	return &questionRecord{
		Question, &company, &q.QuestionID, &q.Name, q.Description, q.Folder, unlessEmpty(q.Owner), &d.Version,
		(*string)(&d.Measure), (*string)(&d.Interval), (*string)(d.Split), (*string)(&d.Chart), (*string)(&d.Span),
		d.FirstDay, d.LastDay, (*string)(d.Compare), d.GroupID, d.TagName, d.PhysicalID,
	}
}

func (r *questionRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	q := &domain.Question{
		QuestionID: need(&f, "id", r.ID), Name: need(&f, "name", r.Name), Description: r.Description, Folder: r.Folder,
		Owner: either(r.Owner, ""), IsShared: true,
		Definition: domain.QuestionDefinition{
			Version: need(&f, "version", r.Version), Measure: domain.QuestionMeasure(need(&f, "measure", r.Measure)), Interval: domain.Unit(need(&f, "interval", r.Interval)),
			Split: (*domain.QuestionSplit)(r.Split), Chart: domain.QuestionChart(need(&f, "chart", r.Chart)), Span: domain.QuestionSpan(need(&f, "span", r.Span)),
			FirstDay: r.FirstDay, LastDay: r.LastDay, Compare: (*domain.QuestionComparison)(r.Compare),
			GroupID: r.GroupID, TagName: r.TagName, PhysicalID: r.PhysicalID,
		},
	}
	return Item{Company: company, Value: q}, f.check(func() error {
		id, err := uuid.Parse(q.QuestionID)
		if err != nil {
			return domain.Invalid("id", "id must be a UUID, not %.40q", q.QuestionID)
		}
		q.QuestionID = id.String()
		if err := domain.CheckEmail("owner", q.Owner); q.Owner != "" && err != nil {
			return err
		}
		return q.Check()
	})
}
