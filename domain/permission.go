package domain

import (
	"slices"
	"strings"

	"simgraph/domain/ascii"
)

// Permission is one right of a user account, written as OAuth scopes and the
// graph write it.
type Permission string

// The permissions: those of spec §5, then those for what the spec leaves open.
const (
	ViewStatisticsOverview Permission = "VIEW_STATISTICS_OVERVIEW"
	ViewSubscriber         Permission = "VIEW_SUBSCRIBER"
	UpdateSubscriber       Permission = "UPDATE_THE_DETAILS_OF_A_SUBSCRIBER"
	ViewMonitoringAlerts   Permission = "VIEW_MONITORING_ALERTS"
	AddMonitoringAlerts    Permission = "ADD_MONITORING_ALERTS"
	EditMonitoringAlerts   Permission = "EDIT_MONITORING_ALERTS"
	DeleteMonitoringAlerts Permission = "DELETE_MONITORING_ALERTS"
	ViewUserDetails        Permission = "VIEW_A_USERS_DETAILS"
	ManageAccessKeys       Permission = "MANAGE_ACCESS_KEYS"
	RecordUsage            Permission = "RECORD_USAGE"
	ManageInventory        Permission = "MANAGE_INVENTORY"
)

var permissionLabels = map[Permission]string{
	ViewStatisticsOverview: "View Statistics Overview",
	ViewSubscriber:         "View Subscriber",
	UpdateSubscriber:       "Update the Details of a Subscriber",
	ViewMonitoringAlerts:   "View Monitoring Alerts",
	AddMonitoringAlerts:    "Add Monitoring Alerts",
	EditMonitoringAlerts:   "Edit Monitoring Alerts",
	DeleteMonitoringAlerts: "Delete Monitoring Alerts",
	ViewUserDetails:        "View a User's Details",
	ManageAccessKeys:       "Manage Access Keys",
	RecordUsage:            "Record Usage",
	ManageInventory:        "Manage Inventory",
}

// Label returns the permission as the spec names it: "View Subscriber".
func (p Permission) Label() string { return permissionLabels[p] }

// AllPermissions returns every permission, in the order of their names.
func AllPermissions() []Permission {
	all := make([]Permission, 0, len(permissionLabels))
	for p := range permissionLabels {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// ParseScopes reads permissions with blanks between them, each in either writing:
// "VIEW_SUBSCRIBER Record Usage". unknown is the first word that belongs to none.
func ParseScopes(s string) (all []Permission, unknown string) {
	words := strings.Fields(s)
	for len(words) > 0 {
		p, n := leadingPermission(words)
		if n == 0 {
			return nil, words[0]
		}
		all, words = append(all, p), words[n:]
	}
	return all, ""
}

// leadingPermission returns the permission at the beginning of the words, and of how
// many words it is; 0 for none.
func leadingPermission(words []string) (Permission, int) {
	const longest = 6 // words of a label
	for n := min(len(words), longest); n > 0; n-- {
		if p, err := ParsePermission(strings.Join(words[:n], " ")); err == nil {
			return p, n
		}
	}
	return "", 0
}

// ParsePermission reads a permission in either writing: "View Subscriber" or
// "VIEW_SUBSCRIBER".
func ParsePermission(s string) (Permission, error) {
	if _, known := permissionLabels[Permission(s)]; known {
		return Permission(s), nil
	}
	for p, label := range permissionLabels {
		if ascii.EqualFold(label, s) {
			return p, nil
		}
	}
	return "", Invalid("permissions", "there is no permission %q", s)
}
