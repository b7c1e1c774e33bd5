package domain

import (
	"regexp"
	"slices"
	"time"
)

// Firing is an entry of the alert log as a bundle holds it: by names that other
// databases know, too.
type Firing struct {
	VolumeLogEntry
	// PhysicalID is that of the subscriber, "" for the combined usage of a group.
	PhysicalID string
	// Alert is the alert that fired, when it is still as it was then. It does not
	// fire again for the same.
	Alert *AlertImport
	// Revision distinguishes the firings of an alert that was changed or removed since
	// apart; its AlertID is not that of any alert there is.
	Revision int
}

// maxAlertCopy bounds how many equal alerts a bundle distinguishes.
const maxAlertCopy = 1_000_000

var isUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`).MatchString

// Check refuses an impossible entry.
func (f *Firing) Check() error {
	if (f.PhysicalID == "") == (f.GroupID == nil) {
		return Invalid("physicalId", "exactly one of physicalId and groupId is required")
	}
	if f.Alert == nil && (f.AlertID < 1 || f.Revision < 1 || f.Revision > 1<<31-1) {
		return Invalid("former", "either alert, or former with alertId and revision is required")
	}
	if f.Alert != nil {
		if err := f.Alert.Check(); err != nil {
			return err
		}
		if f.Alert.Copy < 0 || f.Alert.Copy > maxAlertCopy {
			return Invalid("alert.copy", "alert.copy must be 0 to %d", maxAlertCopy)
		}
	}
	return f.checkFields()
}

func (f *Firing) checkFields() error {
	switch {
	case f.LimitBoundary != Lower && f.LimitBoundary != Upper:
		return Invalid("limitBoundary", "limitBoundary must be lower or upper")
	case !slices.Contains([]RuleType{RuleSIM, RuleCompany, RuleGroup, RuleGroupMember}, f.RuleType):
		return Invalid("ruleType", "ruleType must be sim, company, grouppr or groupfptp, not %q", f.RuleType)
	case !f.PeriodEnd.After(f.PeriodStart):
		return Invalid("periodEnd", "periodEnd must be after periodStart")
	case f.Threshold < 0 || f.Usage < 0:
		return Invalid("usage", "threshold and usage must not be negative")
	case f.NotificationID != nil && !isUUID(*f.NotificationID):
		return Invalid("notificationId", "notificationId must be a UUID")
	}
	for _, id := range []*int64{f.GroupID, f.TargetGroupID} {
		if id != nil {
			if err := CheckGroupID(*id); err != nil {
				return err
			}
		}
	}
	if f.PhysicalID != "" {
		if err := CheckPhysicalID(f.PhysicalID); err != nil {
			return err
		}
	}
	return checkText("target", f.Target, 0, maxUsageText)
}

// Suppression stops mail to a recipient.
type Suppression struct {
	Email  string
	Since  time.Time
	Reason SuppressionReason
	// Detail is the answer of the mail server.
	Detail string
}

// maxSuppressed bounds what is kept of a mail server's answer.
const maxSuppressed = 4096

// Check refuses an impossible suppression.
func (s *Suppression) Check() error {
	if s.Reason != Refused && s.Reason != Unsubscribed {
		return Invalid("reason", "reason must be refused or unsubscribed")
	}
	if err := checkText("detail", s.Detail, 0, maxSuppressed); err != nil {
		return err
	}
	return CheckEmail("email", s.Email)
}
