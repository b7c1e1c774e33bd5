// Package stores makes the stores in PostgreSQL that need no more than a pool and a clock: a line
// for each port of the graph, and for each store of bundles.
package stores

import (
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/alert"
	"simgraph/db/audit"
	bundles "simgraph/db/bundle"
	"simgraph/db/catalogue"
	"simgraph/db/companies"
	"simgraph/db/condition"
	"simgraph/db/dashboard"
	"simgraph/db/delivery"
	"simgraph/db/feed"
	"simgraph/db/group"
	"simgraph/db/inventory"
	"simgraph/db/mail"
	"simgraph/db/note"
	"simgraph/db/question"
	reports "simgraph/db/report"
	"simgraph/db/silence"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	"simgraph/domain/report"
	"simgraph/internal/bundle"
	"simgraph/resolvers"
)

// Ports returns the ports of the graph. Who serves it adds those that need more: keys, rules of
// addresses, the ledger with its alerts, what other instances announce.
func Ports(pool *sqlx.DB, now func() time.Time) resolvers.Ports {
	records := inventory.New(pool, now)
	return resolvers.Ports{
		Subscribers:  subscriber.New(pool),
		Groups:       group.New(pool),
		Tags:         tag.New(pool),
		Catalogue:    catalogue.New(pool),
		Sessions:     feed.NewSessions(pool),
		Feed:         feed.NewState(pool),
		Alerts:       alert.NewAlerts(pool),
		AlertLog:     alert.NewLog(pool),
		VolumeAlerts: volume.NewAlerts(pool, now),
		VolumeLog:    volume.NewLog(pool),
		Conditions:   condition.New(pool, now),
		Silences:     silence.New(pool, now),
		Deliveries:   delivery.New(pool),
		Recipients:   mail.NewRecipients(pool, now),
		Questions:    question.New(pool, now),
		Dashboards:   dashboard.New(pool, dashboard.Options{Now: now}),
		Notes:        note.New(pool, now),
		Reports:      Reports(pool, now),
		Audit:        audit.NewLog(pool),
		Inventory:    records,
		Users:        records,
	}
}

// Bundles returns the stores of bundles. Who imports adds profiles, the ledger and the audit log.
func Bundles(pool *sqlx.DB, now func() time.Time) bundle.Stores {
	return bundle.Stores{
		Importer:   bundles.NewImporter(pool),
		Companies:  companies.New(pool),
		Alerts:     volume.NewAlerts(pool, now),
		Recipients: mail.NewRecipients(pool, now),
		Dashboards: dashboard.New(pool, dashboard.Options{Now: now}),
		Notes:      note.New(pool, now),
		Reports:    Reports(pool, now),
	}
}

// Reports returns the store of reports, which finds what they are about.
func Reports(pool *sqlx.DB, now func() time.Time) *reports.Store {
	return reports.New(pool, report.Finder{Questions: question.New(pool, now), Dashboards: dashboard.New(pool, dashboard.Options{Now: now})}, now)
}
