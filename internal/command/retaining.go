package command

import (
	"context"
	"fmt"
	"time"

	"simgraph/db/usage"
	"simgraph/domain"
)

// Retaining are the flags of how long data is kept.
type Retaining struct {
	Retention      *int          `placeholder:"MONTHS" range:"3..1200" help:"How many months of usage records a new database keeps, 13 when missing; totals stay. A database that keeps another number is refused: see simgraph ledger retention."`
	DropDelay      time.Duration `default:"168h" range:"0s..8760h" help:"How long a month that was taken out of the usage ledger can be restored before it is dropped."`
	MailRetention  uint          `default:"90" placeholder:"DAYS" range:"0..36500" help:"How many days sent mails are kept; 0 keeps them for ever."`
	AuditRetention uint          `default:"0" placeholder:"MONTHS" range:"0..1200" help:"How many months of the audit log are kept; 0 keeps it for ever."`
}

// ledgerRules are the intervals in which months are dropped.
func (r *Retaining) ledgerRules() *domain.LedgerRules {
	rules := domain.DefaultLedgerRules
	rules.DropDelay = r.DropDelay
	return &rules
}

// adoptRetention sets the retention of a database that has none yet, and refuses
// to serve one that has another than the flag says.
func (r *Retaining) adoptRetention(ctx context.Context, ledger *usage.Ledger) error {
	has, err := ledger.AdoptRetention(ctx, actor("serve"), r.firstRetention())
	if err == nil && r.Retention != nil && has != *r.Retention {
		return fmt.Errorf("this database keeps %d months of usage records, --retention says %d: leave --retention out, or change the database with simgraph ledger retention %d",
			has, *r.Retention, *r.Retention)
	}
	return err
}

// firstRetention is the retention of a database that has none yet.
func (r *Retaining) firstRetention() int {
	if r.Retention == nil {
		return domain.DefaultRetention
	}
	return *r.Retention
}
