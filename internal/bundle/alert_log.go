package bundle

import (
	"fmt"

	"simgraph/domain"
)

// firingRecord has alert for one that is still as it was when it fired, else
// former.
type firingRecord struct {
	Type           Type         `json:"type"`
	Company        *string      `json:"company"`
	RuleType       *string      `json:"ruleType"`
	Target         *string      `json:"target"`
	LimitBoundary  *string      `json:"limitBoundary"`
	PhysicalID     *string      `json:"physicalId"`
	GroupID        *int64       `json:"groupId"`
	TargetGroupID  *int64       `json:"targetGroupId"`
	PeriodStart    *string      `json:"periodStart"`
	PeriodEnd      *string      `json:"periodEnd"`
	Threshold      *int64       `json:"threshold"`
	Usage          *int64       `json:"usage"`
	IsLate         *bool        `json:"isLate"`
	NotificationID *string      `json:"notificationId"`
	DateCreated    *string      `json:"dateCreated"`
	Alert          *firedAlert  `json:"alert"`
	Former         *formerAlert `json:"former"`
}

type firedAlert struct {
	Target         *string `json:"target"`
	LowerThreshold *int64  `json:"lowerThreshold"`
	UpperThreshold *int64  `json:"upperThreshold"`
	// Copy is the place among equal alerts, 0 where it is missing.
	Copy *int64 `json:"copy,omitzero"`
}

type formerAlert struct {
	AlertID  *int64 `json:"alertId"`
	Revision *int64 `json:"revision"`
}

func newFiringRecord(company string, f domain.Firing) *firingRecord {
	r := &firingRecord{
		Type: AlertLog, Company: &company, RuleType: (*string)(&f.RuleType), Target: &f.Target, LimitBoundary: (*string)(&f.LimitBoundary),
		PhysicalID: unlessEmpty(f.PhysicalID), GroupID: f.GroupID, TargetGroupID: f.TargetGroupID,
		PeriodStart: new(writeTime(f.PeriodStart)), PeriodEnd: new(writeTime(f.PeriodEnd)),
		Threshold: &f.Threshold, Usage: &f.Usage, IsLate: &f.IsLate, NotificationID: f.NotificationID, DateCreated: new(writeTime(f.DateCreated)),
	}
	if f.Alert != nil {
		r.Alert = &firedAlert{Target: &f.Alert.Target, LowerThreshold: &f.Alert.LowerThreshold, UpperThreshold: &f.Alert.UpperThreshold}
		if f.Alert.Copy > 0 {
			r.Alert.Copy = new(int64(f.Alert.Copy))
		}
	} else {
		r.Former = &formerAlert{&f.AlertID, new(int64(f.Revision))}
	}
	return r
}

func (r *firingRecord) item() (Item, error) {
	var fs fields
	company := need(&fs, "company", r.Company)
	f := domain.Firing{PhysicalID: either(r.PhysicalID, "")}
	f.RuleType = domain.RuleType(need(&fs, "ruleType", r.RuleType))
	f.Target, f.LimitBoundary = either(r.Target, ""), domain.Boundary(need(&fs, "limitBoundary", r.LimitBoundary))
	f.GroupID, f.TargetGroupID, f.NotificationID = r.GroupID, r.TargetGroupID, r.NotificationID
	f.Threshold, f.Usage, f.IsLate = need(&fs, "threshold", r.Threshold), need(&fs, "usage", r.Usage), either(r.IsLate, false)
	need(&fs, "periodStart", r.PeriodStart)
	need(&fs, "periodEnd", r.PeriodEnd)
	need(&fs, "dateCreated", r.DateCreated)
	r.fired(&fs, &f)
	err := fs.check(func() error { return r.parse(&f) })
	return Item{Company: company, Value: f}, err
}

// fired reads what fired.
func (r *firingRecord) fired(fs *fields, f *domain.Firing) {
	switch {
	case r.Alert != nil:
		f.Alert = &domain.AlertImport{AlertSpec: domain.AlertSpec{
			RuleType: f.RuleType, Target: either(r.Alert.Target, ""),
			LowerThreshold: need(fs, "alert.lowerThreshold", r.Alert.LowerThreshold), UpperThreshold: need(fs, "alert.upperThreshold", r.Alert.UpperThreshold),
		}, Copy: int(either(r.Alert.Copy, 0))}
	case r.Former != nil:
		f.AlertID, f.Revision = need(fs, "former.alertId", r.Former.AlertID), int(need(fs, "former.revision", r.Former.Revision))
	}
}

func (r *firingRecord) parse(f *domain.Firing) (err error) {
	if f.PeriodStart, err = domain.ParseInstant("periodStart", *r.PeriodStart); err != nil {
		return err
	}
	if f.PeriodEnd, err = domain.ParseInstant("periodEnd", *r.PeriodEnd); err != nil {
		return err
	}
	if f.DateCreated, err = domain.ParseInstant("dateCreated", *r.DateCreated); err != nil {
		return err
	}
	return f.Check()
}

// identifyFiring identifies firings as the log does: one per alert, boundary,
// revision, billing period and subject.
func identifyFiring(f domain.Firing) string {
	subject := f.PhysicalID
	if f.GroupID != nil {
		subject = fmt.Sprint(*f.GroupID)
	}
	fired := fmt.Sprint(f.AlertID, f.Revision)
	if f.Alert != nil {
		fired = fmt.Sprint(*f.Alert)
	}
	return fmt.Sprint(fired, f.LimitBoundary, f.PeriodStart.Unix(), subject)
}

type suppressionRecord struct {
	Type    Type    `json:"type"`
	Company *string `json:"company"`
	Email   *string `json:"email"`
	Since   *string `json:"since"`
	Reason  *string `json:"reason"`
	Detail  *string `json:"detail"`
}

func newSuppressionRecord(company string, s domain.Suppression) *suppressionRecord {
	return &suppressionRecord{Suppression, &company, &s.Email, new(writeTime(s.Since)), (*string)(&s.Reason), &s.Detail}
}

func (r *suppressionRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	s := domain.Suppression{
		Email: need(&f, "email", r.Email), Reason: domain.SuppressionReason(need(&f, "reason", r.Reason)), Detail: either(r.Detail, ""),
	}
	need(&f, "since", r.Since)
	err := f.check(func() (err error) {
		if s.Since, err = domain.ParseInstant("since", *r.Since); err != nil {
			return err
		}
		return s.Check()
	})
	return Item{Company: company, Value: s}, err
}
