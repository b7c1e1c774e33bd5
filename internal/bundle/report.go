package bundle

import (
	"github.com/google/uuid"

	"simgraph/domain"
	"simgraph/domain/report"
)

type reportRecord struct {
	Type         Type     `json:"type"`
	Company      *string  `json:"company"`
	ID           *string  `json:"id"`
	QuestionID   *string  `json:"questionId"`
	DashboardID  *string  `json:"dashboardId"`
	Frequency    *string  `json:"frequency"`
	Hour         *int     `json:"hour"`
	Recipients   []string `json:"recipients"`
	Unsubscribed []string `json:"unsubscribed"`
	Owner        *string  `json:"owner"`
}

func newReportRecord(company string, r *report.Report) *reportRecord {
	return &reportRecord{Report, &company, &r.ReportID, r.QuestionID, r.DashboardID, (*string)(&r.Frequency), &r.Hour, r.Recipients, r.Unsubscribed, unlessEmpty(r.Owner)}
}

func (r *reportRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	of := &report.Report{
		ReportID: need(&f, "id", r.ID), Topic: report.Topic{QuestionID: r.QuestionID, DashboardID: r.DashboardID},
		Schedule:   report.Schedule{Frequency: report.Frequency(need(&f, "frequency", r.Frequency)), Hour: need(&f, "hour", r.Hour)},
		Recipients: r.Recipients, Unsubscribed: r.Unsubscribed, Owner: either(r.Owner, ""), IsPaused: true,
	}
	return Item{Company: company, Value: of}, f.check(func() error {
		if err := checkKept(&of.ReportID, of.Owner); err != nil {
			return err
		}
		for field, id := range map[string]*string{"questionId": of.QuestionID, "dashboardId": of.DashboardID} {
			if id == nil {
				continue
			}
			parsed, err := uuid.Parse(*id)
			if err != nil {
				return domain.Invalid(field, "%s must be a UUID, not %.40q", field, *id)
			}
			*id = parsed.String()
		}
		for i, address := range of.Unsubscribed {
			email, err := domain.ParseEmail(domain.Item("unsubscribed", i), address)
			if err != nil {
				return err
			}
			of.Unsubscribed[i] = email.String()
		}
		return of.Check()
	})
}
