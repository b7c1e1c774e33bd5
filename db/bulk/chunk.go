package bulk

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

const (
	// stateOf also returns whether a chunk stores what it decides. A run does. A dry run does
	// where it has the permission $3, and rolls back; so does the check of what creates, since
	// only the store finds what a new subscriber names.
	stateOf = `
SELECT o.state, o.state = 'RUNNING' OR o.creates OR o.is_dry_run AND $3 = ANY(o.permissions) AS writes
FROM operations o
WHERE o.company_id = $1 AND o.operation_id = $2`
	rowsOfChunk = `
SELECT r.position, r.physical_id, COALESCE(r.wanted::text, '') AS wanted, COALESCE(r.shown::text, '') AS shown
FROM operation_rows r
WHERE r.company_id = $1 AND r.operation_id = $2 AND r.position > $3 AND r.position <= $4
ORDER BY r.position`
)

// chunk checks or changes the next rows of an operation, all or none of them, and
// returns the state after. What it does stands and falls with the note of it: so each
// row changes once, whatever is killed. A failure that is given makes the rows fail.
func (s *Store) chunk(ctx context.Context, company domain.CompanyID, id uuid.UUID, failure *domain.Error) (state bulk.State, err error) {
	err = pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			type begun struct {
				State  bulk.State
				Writes bool
			}
			before, err := pg.GetOne[begun](ctx, tx, bulk.NotFound(id.String()), stateOf, company, id, domain.ManageInventory)
			if err != nil {
				return err
			}
			// Changes take the lock of the company first, as all others do.
			if before.Writes {
				if err := lockCompany(ctx, tx, company); err != nil {
					return err
				}
			}
			o, err := lock(ctx, tx, company, id)
			if err != nil {
				return err
			}
			if state = o.State; state != before.State || o.EndedAt != nil {
				return nil // others went on meanwhile
			}
			c := &chunk{Store: s, tx: tx, company: company, of: o, writes: before.Writes}
			err = c.work(ctx, failure)
			state = o.State
			return err
		})
	})
	return state, err
}

const (
	lockPatience = `SET LOCAL lock_timeout = '2s'`
	lockAsEver   = `SET LOCAL lock_timeout = DEFAULT`
)

// errBusy is that others, such as an import, hold the lock of the company.
var errBusy = errors.New("the company is being changed by others")

// lockCompany takes the lock of the company, or returns errBusy after some seconds.
func lockCompany(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	if _, err := tx.ExecContext(ctx, lockPatience); err != nil {
		return err
	}
	if _, err := companies.Lock(ctx, tx, company); pq.As(err, pqerror.LockNotAvailable) != nil {
		return errBusy
	} else if err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, lockAsEver)
	return err
}

// chunk is the work on some rows of an operation in a transaction.
type chunk struct {
	*Store
	tx      *sqlx.Tx
	company domain.CompanyID
	of      *locked
	// writes is whether it stores what it decides, under the lock of the company.
	writes bool
	scope  domain.Scope
	rows   []*chunkRow
	known  bulk.Known
	// carried are the tags that the changes name, by key.
	carried map[int64][]domain.TagName
}

func (c *chunk) work(ctx context.Context, failure *domain.Error) (err error) {
	o := c.of
	if c.rows, err = pg.SelectAll[chunkRow](ctx, c.tx, rowsOfChunk, c.company, o.id, o.Position, o.Position+c.Chunk); err != nil {
		return err
	}
	if failure == nil {
		if c.scope, failure, err = c.rights(ctx); err != nil {
			return err
		}
	}
	if failure == nil {
		err = c.decide(ctx)
	} else {
		for _, r := range c.rows {
			r.fail(failure)
		}
	}
	if err != nil {
		return err
	}
	if c.writes && failure == nil {
		if err := c.run(ctx); err != nil {
			return err
		}
	}
	done, err := c.note(ctx)
	if err != nil {
		return err
	}
	if err := announce.Operation(ctx, c.tx, c.company, o.id); err != nil || len(done.names) == 0 {
		return err
	}
	return audit.Record(ctx, c.tx, o.by(c.company), operationEntry(domain.AuditOperationRun, o.id, done.changes(description(o))...))
}

// chunkRow is a row of a chunk, and what became of it.
type chunkRow struct {
	Position   int
	PhysicalID string
	Wanted     string
	// Shown is what the dry run showed that was started as the operation; "" for none.
	Shown string

	before  *domain.Subscriber
	edited  bulk.Edited
	outcome bulk.Outcome
	fault   *domain.Error
}

func (r *chunkRow) fail(err *domain.Error) {
	r.outcome, r.fault, r.edited.Changes = bulk.Failed, err, nil
}

// skip leaves a row that is not undone.
func (r *chunkRow) skip(err *domain.Error) {
	r.fail(err)
	r.outcome = bulk.Skipped
}
