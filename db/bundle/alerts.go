package bundle

import (
	"simgraph/db/alert"
	"simgraph/db/volume"
	"simgraph/domain"
)

// exportAlertLog names the alert where it still is as it was when it fired.
const exportAlertLog = `
WITH copies AS (
  SELECT a.alert_id, ` + alertCopy + ` AS copy` + volume.FromAlerts + `
  WHERE a.company_id = $1
)
SELECT ` + volume.EntrySelect + `, abs(l.alert_id) AS former_id, l.revision, COALESCE(subject.physical_id, '') AS physical_id,
  t.alert_id IS NOT NULL AS stands, COALESCE(` + alert.Target + `, '') AS alert_target, COALESCE(copies.copy, 0) AS copy,
  COALESCE(lower.threshold, 0) AS lower_threshold, COALESCE(upper.threshold, 0) AS upper_threshold
FROM alert_log l
LEFT JOIN subscribers subject ON subject.company_id = $1 AND subject.key = l.subscriber_key
LEFT JOIN alert_thresholds t ON t.company_id = $1 AND t.alert_id = l.alert_id AND t.boundary = l.limit_boundary AND t.revision = l.revision
LEFT JOIN alerts a ON a.company_id = $1 AND a.alert_id = t.alert_id
LEFT JOIN alert_thresholds lower ON lower.company_id = $1 AND lower.alert_id = t.alert_id AND lower.boundary = 'lower'
LEFT JOIN alert_thresholds upper ON upper.company_id = $1 AND upper.alert_id = t.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = a.subscriber_key
LEFT JOIN copies ON copies.alert_id = t.alert_id
WHERE l.company_id = $1
ORDER BY l.date_created, l.entry_id`

type exportedFiring struct {
	domain.VolumeLogEntry
	FormerID       int64
	Revision       int
	PhysicalID     string
	Stands         bool
	AlertTarget    string
	Copy           int
	LowerThreshold int64
	UpperThreshold int64
}

func (e exportedFiring) firing() domain.Firing {
	f := domain.Firing{VolumeLogEntry: e.VolumeLogEntry, PhysicalID: e.PhysicalID}
	if !e.Stands {
		f.AlertID, f.Revision = e.FormerID, e.Revision
		return f
	}
	f.AlertID = 0
	spec := domain.AlertSpec{RuleType: e.RuleType, Target: e.AlertTarget, LowerThreshold: e.LowerThreshold, UpperThreshold: e.UpperThreshold}
	f.Alert = &domain.AlertImport{AlertSpec: spec, Copy: e.Copy}
	return f
}

// exportAlerts numbers equal alerts. Those of subscribers that share their
// subscriberId are no such ones, though their lines would be.
const exportAlerts = `
SELECT DISTINCT a.rule_type, ` + alert.Target + ` COLLATE "C" AS target,
  lower.threshold AS lower_threshold, upper.threshold AS upper_threshold, ` + alertCopy + ` AS copy, a.name, a.description` + volume.FromAlerts + `
WHERE a.company_id = $1
ORDER BY a.rule_type, target, lower_threshold, upper_threshold, copy`

// alertCopy counts the equal alerts before an alert.
const alertCopy = `row_number() OVER (PARTITION BY a.rule_type, a.target_id, lower.threshold, upper.threshold ORDER BY a.alert_id) - 1`
