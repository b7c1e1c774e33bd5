package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// An upload is an operation whose rows are still coming. They are written as they come, in
// transactions of their own, and belong to no operation before the last has come. What an
// upload leaves that nobody ends, such as that of a process that was killed, Prune removes.
const (
	// uploadLasts is for how long an upload is there that writes nothing.
	uploadLasts = `interval '10 minutes'`
	addUpload   = `INSERT INTO operation_uploads (company_id, operation_id, written_at) VALUES ($1, $2, now())`
	keepUpload  = `UPDATE operation_uploads SET written_at = now() WHERE company_id = $1 AND operation_id = $2`
	takeUpload  = `DELETE FROM operation_uploads WHERE company_id = $1 AND operation_id = $2`
	countRows   = `SELECT count(*) FROM operation_rows r WHERE r.company_id = $1 AND r.operation_id = $2`
	removeRows  = `DELETE FROM operation_rows WHERE company_id = $1 AND operation_id = $2`

	isOver        = `u.written_at < now() - ` + uploadLasts
	uploadsOver   = `SELECT DISTINCT u.company_id FROM operation_uploads u WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND ` + isOver
	uploadsOverOf = `SELECT u.operation_id FROM operation_uploads u WHERE u.company_id = $1 AND ` + isOver
	takeOver      = `DELETE FROM operation_uploads u WHERE u.company_id = $1 AND u.operation_id = $2 AND ` + isOver
)

const (
	// bytesAtOnce bounds what waits of an upload before it is written.
	bytesAtOnce = 256 << 10
	// abandonTime bounds the removal of what an upload has written.
	abandonTime = time.Minute
)

// errUploadOver is the error of an upload that wrote nothing for so long that it is not there
// any more.
var errUploadOver = domain.Unavailable(errors.New("the upload took too long between two rows"))

// written are rows that wait to be written.
type written struct {
	ids, wanted pq.StringArray
	lines       pq.Int64Array
	bytes       int
}

func (w *written) add(row bulk.Row) {
	text := wantedOf(row)
	w.ids, w.wanted, w.lines = append(w.ids, row.PhysicalID), append(w.wanted, text), append(w.lines, int64(row.Line))
	w.bytes += len(row.PhysicalID) + len(text)
}

// upload writes the rows as they come, and returns the permissions that they need beside
// those of the change. When the caller lacks one it writes no more rows, and reads on: what
// is wrong with them comes before what is forbidden.
func (s *Store) upload(ctx context.Context, caller *domain.Caller, start *bulk.Start, id uuid.UUID, needed []domain.Permission) ([]domain.Permission, error) {
	scope := caller.Scope
	err := pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		if err := checkRoom(ctx, tx, scope); err != nil {
			return err
		}
		_, err := pg.Affected(ctx, tx, addUpload, scope.Company, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	total, waiting := 0, &written{}
	for row, err := range start.Lines {
		if err != nil {
			return nil, err
		}
		storeTimes(&row)
		if !start.Create { // what creates has its permissions by now
			needed = row.Needs(needed)
		}
		if caller.Need(needed...) != nil {
			continue
		}
		if waiting.add(row); waiting.bytes >= bytesAtOnce || len(waiting.ids) >= s.RowsAtOnce {
			if err := s.write(ctx, scope, id, total, waiting); err != nil {
				return nil, err
			}
			total, waiting = total+len(waiting.ids), &written{}
		}
		if err := bulk.CheckTotal(total, s.Rows); err != nil {
			return nil, err
		}
	}
	return needed, s.write(ctx, scope, id, total, waiting)
}

// write writes rows behind those that were written.
func (s *Store) write(ctx context.Context, scope domain.Scope, id uuid.UUID, behind int, rows *written) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			kept, err := pg.Affected(ctx, tx, keepUpload, scope.Company, id)
			if err == nil && kept == 0 {
				err = errUploadOver
			}
			if err != nil {
				return err
			}
			_, err = pg.Affected(ctx, tx, addRows, scope.Company, id, behind, rows.ids, rows.wanted, rows.lines)
			return err
		})
	})
}

// endUpload makes the rows of an upload those of an operation, which the transaction stores,
// and returns how many they are.
func endUpload(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, id uuid.UUID) (int, error) {
	taken, err := pg.Affected(ctx, tx, takeUpload, scope.Company, id)
	if err == nil && taken == 0 {
		err = errUploadOver
	}
	if err != nil {
		return 0, err
	}
	return pg.Count(ctx, tx, countRows, scope.Company, id)
}

// abandon removes an upload that did not become an operation.
func (s *Store) abandon(ctx context.Context, scope domain.Scope, id uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTime)
	defer cancel()
	if err := s.remove(ctx, scope.Company, id, takeUpload); err != nil {
		s.Log.WarnContext(ctx, "operations: what an upload left is removed later", "operation", id, "error", err)
	}
}

// remove removes an upload with its rows where the statement finds it. Where a transaction
// that ends the upload was stored and its answer was lost, there is none.
func (s *Store) remove(ctx context.Context, company domain.CompanyID, id uuid.UUID, take string) error {
	return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		taken, err := pg.Affected(ctx, tx, take, company, id)
		if err == nil && taken > 0 {
			_, err = pg.Affected(ctx, tx, removeRows, company, id)
		}
		return err
	})
}

// PruneUploads removes what is left of the uploads of all companies that nobody ends any
// more.
func (s *Store) PruneUploads(ctx context.Context) error {
	return companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		over, err := pg.SelectValues[uuid.UUID](ctx, s.pool, uploadsOverOf, company)
		for _, id := range over {
			if err == nil {
				err = s.remove(ctx, company, id, takeOver)
			}
		}
		return err
	}, uploadsOver)
}
