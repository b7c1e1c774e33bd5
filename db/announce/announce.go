// Package announce announces what changed when a transaction commits: to subscriptions by
// NOTIFY, and to webhooks.
package announce

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/db/webhook"
	"simgraph/domain"
)

const (
	// Channel carries what changed to the listeners of every process.
	Channel = "simgraph_live"
	// maxPayload is below the 8,000 bytes that NOTIFY takes.
	maxPayload = 7_900
)

const announce = `SELECT pg_notify('` + Channel + `', payload) FROM unnest($1::text[]) AS p(payload)`

// Alerts announces, when the transaction commits, that alerts fired.
func Alerts(ctx context.Context, tx sqlx.ExecerContext, company domain.CompanyID, notification uuid.UUID) error {
	_, err := tx.ExecContext(ctx, announce, pq.StringArray{fmt.Sprintf("alert %d %s", company, notification)})
	return err
}

// A NOTIFY in each transaction would make the commits of all writers queue up,
// so what changes often is announced only where a process follows it.
const (
	stateFollowed = `SELECT ` + usage.IsFollowed + ` AS followed, ` + webhook.AreWanted + ` AS wanted`
	// anyFollower comes before keysOf: Citus sends on what reads one table, and plans what reads
	// two again for each change.
	anyFollower = usage.Followers + ` LIMIT 1`
	keysOf      = `SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = ANY($2)`
)

// Changed announces, when the transaction commits, that subscribers or
// their tags changed: to subscriptions and to webhooks.
func Changed(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string) error {
	if err := webhook.NamedChanged(ctx, tx, company, physicalIDs); err != nil {
		return err
	}
	if n, err := pg.Returned(ctx, tx, anyFollower, company); err != nil || n == 0 {
		return err
	}
	var keys []int64
	if err := tx.SelectContext(ctx, &keys, keysOf, company, pq.StringArray(physicalIDs)); err != nil || len(keys) == 0 {
		return err
	}
	return announceKeys(ctx, tx, company, keys)
}

// State announces, when the transaction commits, that the network state of
// subscribers changed.
func State(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, keys []int64) error {
	var by struct{ Followed, Wanted bool }
	if err := tx.GetContext(ctx, &by, stateFollowed, company); err != nil {
		return err
	}
	if by.Wanted {
		if err := webhook.KeysChanged(ctx, tx, company, keys); err != nil {
			return err
		}
	}
	if !by.Followed {
		return nil
	}
	return announceKeys(ctx, tx, company, keys)
}

func announceKeys(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, keys []int64) error {
	payloads := pack(fmt.Sprintf("changed %d ", company), keys, func(b []byte, key int64) []byte {
		return strconv.AppendInt(b, key, 10)
	})
	_, err := tx.ExecContext(ctx, announce, pq.StringArray(payloads))
	return err
}

// Usage announces, when the transaction commits, what was booked for a
// company that is followed.
func Usage(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, changes []usage.TotalChange) error {
	var payloads []string
	for _, start := range usage.PeriodsOf(changes) {
		prefix := fmt.Sprintf("usage %d %d ", company, start.Unix())
		payloads = append(payloads, pack(prefix, changes, func(b []byte, c usage.TotalChange) []byte {
			if !c.PeriodStart.Equal(start) || c.After == c.Before {
				return b
			}
			b = append(strconv.AppendInt(b, c.ID, 10), ':')
			b = append(strconv.AppendInt(b, c.After-c.Before, 10), ':')
			return strconv.AppendInt(b, c.After, 10)
		})...)
	}
	_, err := tx.ExecContext(ctx, announce, pq.StringArray(payloads))
	return err
}

// pack writes the items with commas between them, after the prefix, into as few
// payloads as hold them. An item that writes nothing is left out.
func pack[T any](prefix string, items []T, write func([]byte, T) []byte) (payloads []string) {
	const longestItem = 64
	b := []byte(prefix)
	for _, item := range items {
		if len(b) > maxPayload-longestItem {
			payloads = append(payloads, string(b))
			b = append(b[:0], prefix...)
		}
		before := len(b)
		if before > len(prefix) {
			b = append(b, ',')
		}
		start := len(b)
		if b = write(b, item); len(b) == start {
			b = b[:before]
		}
	}
	if len(b) > len(prefix) {
		payloads = append(payloads, string(b))
	}
	return payloads
}

const announceOperationOf = `SELECT pg_notify('` + Channel + `', $1)`

// Operation announces, when the transaction commits, that an operation changed.
func Operation(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, operation uuid.UUID) error {
	_, err := tx.ExecContext(ctx, announceOperationOf, fmt.Sprintf("operation %d %s", company, operation))
	return err
}
