package upstream

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

// alerts reads the alerts, numbered as bundles number equal ones.
func (m *Mover) alerts(ctx context.Context) ([]domain.AlertImport, error) {
	var specs []domain.AlertSpec
	seen := map[whole]bool{}
	err := each(ctx, m.From, []string{"alerts"}, "dateCreated ASC", func(page []alert) error {
		for i := range page {
			if !seen[page[i].ID] {
				seen[page[i].ID] = true
				specs = append(specs, m.placeAlert(page[i].spec()))
			}
		}
		return nil
	})
	return upstream.Copies(specs), err
}

func (m *Mover) copyAlerts(ctx context.Context) error {
	if m.WithoutAlerts || m.cursor.IsDone(upstream.AlertLog) {
		return nil
	}
	alerts, err := m.alerts(ctx)
	if err != nil {
		return err
	}
	var deleted []*upstream.DeletedAlert
	if m.Job != nil {
		if deleted, err = m.Keeper.DeletedAlerts(ctx, m.Job, alerts); err != nil {
			return err
		}
	}
	usable := slices.DeleteFunc(slices.Clone(alerts), func(a domain.AlertImport) bool {
		err := a.Check()
		if err != nil {
			m.refuse("alert "+nameOf(a.AlertSpec), err)
		}
		return err != nil
	})
	for part := range slices.Chunk(usable, pageSize) {
		answers, err := m.Alerts.Keep(ctx, m.scope(), part)
		if err := m.answered("alert", answers, func(i int) string { return nameOf(part[i].AlertSpec) }, err); err != nil {
			return err
		}
	}
	m.progress(string(upstream.Alerts), len(usable))
	if err := m.copyLog(ctx, upstream.Remaining(usable, deleted)); err != nil {
		return err
	}
	return m.finish(ctx, upstream.AlertLog)
}

func nameOf(a domain.AlertSpec) string { return string(a.RuleType) + " " + clip(a.Target) }

func (m *Mover) copyLog(ctx context.Context, alerts []domain.AlertImport) error {
	log, err := m.From.log(ctx)
	if err != nil {
		return err
	}
	for i := range log {
		log[i].Target = m.placeTarget(log[i].RuleType, log[i].Target)
	}
	var firings []domain.Firing
	firings, m.incomplete = upstream.Firings(log, alerts, m.Company.Billing(), m.holder)
	m.logged = len(firings)
	for part := range slices.Chunk(firings, pageSize) {
		answers, err := m.Alerts.KeepLog(ctx, m.scope(), part)
		name := func(i int) string { return part[i].Target + " of " + part[i].DateCreated.Format(time.RFC3339) }
		if err := m.answered("entry of the alert log for", answers, name, err); err != nil {
			return err
		}
	}
	m.progress(string(upstream.AlertLog), len(firings))
	return nil
}

// recipients returns the addresses, and false where the other server does not list them: the
// contract documents how they are changed, not how they are listed.
func (m *Mover) recipients(ctx context.Context) (emails []string, isListed bool, err error) {
	list, err := listOf[recipient](ctx, m.From, []string{"alerts", "recipients"}, url.Values{"limit": {strconv.Itoa(pageSize)}})
	if isAbsent(err) {
		return nil, false, nil
	}
	for _, r := range list {
		emails = append(emails, r.Email)
	}
	slices.Sort(emails)
	return slices.Compact(emails), true, err
}

func (m *Mover) copyRecipients(ctx context.Context) error {
	if !m.WithRecipients {
		return nil
	}
	emails, _, err := m.recipients(ctx)
	if err != nil {
		return err
	}
	usable := slices.DeleteFunc(emails, func(email string) bool {
		err := domain.CheckEmail("email", email)
		if err != nil {
			m.refuse("recipient "+clip(email), err)
		}
		return err != nil
	})
	if len(usable) == 0 {
		return nil
	}
	answers, err := m.Recipients.Keep(ctx, m.scope(), usable)
	return m.answered("recipient", answers, func(i int) string { return usable[i] }, err)
}
