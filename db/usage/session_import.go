package usage

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// KeepSessions adds sessions of a bundle, or takes over what is known of them where
// that is more than here. It books nothing: the ledger has records of its own.
func (u *Store) KeepSessions(ctx context.Context, scope domain.Scope, sessions []*domain.SessionImport) (kept []domain.Imported, err error) {
	err = pg.Retry(ctx, func() error {
		return companies.InTx(ctx, u.pool, scope.Company, func(tx *sqlx.Tx) error {
			kept, err = u.keepSessions(ctx, tx, scope.Company, sessions)
			if err != nil {
				return err
			}
			return recordKept(ctx, tx, scope, kept)
		})
	})
	return kept, err
}

// recordKept records the import in the audit log, unless it changed nothing.
func recordKept(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, kept []domain.Imported) error {
	counts := map[domain.Outcome]int{}
	for _, k := range kept {
		counts[k.Outcome]++
	}
	if counts[domain.Created]+counts[domain.Updated] == 0 {
		return nil
	}
	return audit.Record(ctx, tx, scope, domain.AuditEntry{
		Action: domain.AuditImport + "sessions", SubjectType: "Company",
		Changes: []domain.AuditChange{
			domain.Became("created", pg.FormatInt(int64(counts[domain.Created]))), domain.Became("updated", pg.FormatInt(int64(counts[domain.Updated]))),
		},
	})
}

func (u *Store) keepSessions(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, sessions []*domain.SessionImport) ([]domain.Imported, error) {
	known, err := knownSessions(ctx, tx, company, sessions)
	if err != nil {
		return nil, err
	}
	subscribers, err := findImported(ctx, tx, company, sessions)
	if err != nil {
		return nil, err
	}
	changed := newTouchedSessions(len(sessions))
	kept, touched := make([]domain.Imported, len(sessions)), map[string]*touchedSession{}
	for i, s := range sessions {
		stored := known[s.ID()]
		if kept[i] = outcomeOf(s, stored, subscribers[i]); kept[i].Outcome != domain.Created && kept[i].Outcome != domain.Updated {
			continue
		}
		next := s.Session
		if subscribers[i] != 0 {
			next.SubscriberKey = &subscribers[i]
		} else if stored != nil {
			next.SubscriberKey = stored.SubscriberKey
		}
		if touched[s.ID()] == nil {
			touched[s.ID()] = &touchedSession{}
			changed.order = append(changed.order, touched[s.ID()])
		}
		*touched[s.ID()] = touchedSession{Session: next, wasOpen: next.EndedAt != nil} // so that its subscriber gets the state
		changed.values = append(changed.values, sessionValues{touched[s.ID()], next.Values()})
		known[s.ID()] = &next
		for _, name := range s.Names {
			changed.named[name], changed.newNames[name] = s.Identity, true
		}
	}
	if err := changed.store(ctx, tx, company); err != nil {
		return nil, err
	}
	return kept, u.followSessions(ctx, tx, company, changed)
}

// outcomeOf returns whether a session is created, updated, unchanged or refused. stored is what
// is known of it, and subscriber the key of its subscriber, 0 where there is none.
func outcomeOf(s *domain.SessionImport, stored *domain.Session, subscriber int64) domain.Imported {
	switch {
	case s.Subscriber != "" && subscriber == 0:
		return domain.Imported{Err: domain.NotFound("subscriber", "subscriber", s.Subscriber)}
	case stored != nil && !addsTo(stored, s):
		return domain.Imported{Outcome: domain.Unchanged}
	case stored != nil:
		return domain.Imported{Outcome: domain.Updated}
	}
	return domain.Imported{Outcome: domain.Created}
}

// addsTo reports whether more is known of a session than is stored. No counter may
// fall: the next report would book the difference again.
func addsTo(stored *domain.Session, s *domain.SessionImport) bool {
	return s.Reports > stored.Reports && s.MobileOriginated >= stored.MobileOriginated && s.MobileTerminated >= stored.MobileTerminated
}

// knownSessions returns the sessions that are stored, by their IDs.
func knownSessions(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, sessions []*domain.SessionImport) (map[string]*domain.Session, error) {
	identities := identityArray(pg.Pluck(sessions, func(s *domain.SessionImport) domain.UsageIdentity { return domain.UsageIdentity(s.Identity) }))
	rows, err := pg.SelectAll[SessionRow](ctx, tx, sessionsByIdentity, company, identities)
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*SessionRow).Read), (*domain.Session).ID), nil
}

// findImported returns the keys of the subscribers, 0 for one that there is not.
func findImported(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, sessions []*domain.SessionImport) ([]int64, error) {
	var keys pq.Int64Array
	err := tx.QueryRowxContext(ctx, findUsageSubscribers, company, textArray(sessions, func(s *domain.SessionImport) string { return s.Subscriber })).Scan(&keys)
	return keys, pg.Translate(err)
}
