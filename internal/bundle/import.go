package bundle

import (
	"context"
	"slices"

	"simgraph/domain"
)

// Options are who imports, and callbacks for the progress. All may be nil; no
// function is called by several goroutines at once.
type Options struct {
	// By is who imports, for the audit log.
	By *domain.Actor
	// BadLine is called for every line that was not stored, in the order of the
	// stream.
	BadLine func(*LineError)
	// Progress is called with how much of the stream was stored so far.
	Progress func(lines int, bytes int64)
}

// Count is what became of lines.
type Count struct{ Created, Updated, Unchanged, Quarantined, Failed int }

// Counts are by type; lines without one are under "".
type Counts map[Type]Count

// Add adds what another import counted.
func (c Counts) Add(other Counts) {
	for t, n := range other {
		sum := c[t]
		sum.Created += n.Created
		sum.Updated += n.Updated
		sum.Unchanged += n.Unchanged
		sum.Quarantined += n.Quarantined
		sum.Failed += n.Failed
		c[t] = sum
	}
}

// Failed counts the lines that were not stored.
func (c Counts) Failed() int {
	failed := 0
	for _, count := range c {
		failed += count.Failed
	}
	return failed
}

// Import stores a bundle, some ten thousand lines at a time. A bad line spoils
// no other. After an error, the context's among them, what was counted is
// stored, and the import can be repeated: what is there already stays unchanged.
func (s Stores) Import(ctx context.Context, r *Reader, opt Options) (Counts, error) {
	run := importing{Stores: s, Options: opt, counts: Counts{}, scopes: map[string]domain.Scope{}}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	windows, ended := make(chan *window), make(chan error, 1)
	go func() {
		defer close(windows)
		ended <- cut(reading, r, windows)
	}()
	for {
		select {
		case <-ctx.Done(): // a read of the stream may block for long
			return run.counts, ctx.Err()
		case w, open := <-windows:
			if !open {
				return run.counts, run.reconcile(ctx, <-ended)
			}
			if err := run.store(ctx, w); err != nil {
				return run.counts, err
			}
		}
	}
}

// importing is one import under way.
type importing struct {
	Stores
	Options
	counts Counts
	scopes map[string]domain.Scope
	lines  int
}

// reconcile ends an import that read its stream up to an error, or nil. It does
// so for the companies of the stream alone.
func (i *importing) reconcile(ctx context.Context, err error) error {
	var companies []domain.CompanyID
	for _, scope := range i.scopes {
		companies = append(companies, scope.Company)
	}
	slices.Sort(companies)
	if reconciled := i.Usage.Reconcile(ctx, companies); err == nil {
		err = reconciled
	}
	return err
}

func (i *importing) store(ctx context.Context, w *window) error {
	for _, d := range declarations {
		for _, entries := range w.byCompany(d) {
			if err := i.keep(ctx, w, d, entries); err != nil {
				return err
			}
		}
	}
	i.report(w)
	return nil
}

// keep stores lines of one type and company.
func (i *importing) keep(ctx context.Context, w *window, d declaration, entries []entry) error {
	scope, err := i.scope(ctx, d, entries[0].Company)
	if unknown, ok := domain.AsError(err); ok && unknown.Kind == domain.KindNotFound {
		for _, e := range entries {
			w.refuse(e, domain.Invalid("company", "there is no company %q; its line must come first", clip(e.Company)))
		}
		return nil
	}
	if err != nil {
		return err
	}
	answers, err := d.keep(ctx, i.Stores, scope, entries)
	if err != nil {
		return err
	}
	i.count(w, d.of, entries, answers)
	return nil
}

func (i *importing) count(w *window, t Type, entries []entry, answers []domain.Imported) {
	count := i.counts[t]
	for n, answer := range answers {
		switch answer.Outcome {
		case domain.Created:
			count.Created++
		case domain.Updated:
			count.Updated++
		case domain.Unchanged:
			count.Unchanged++
		case domain.Quarantined:
			count.Quarantined++
		default:
			w.refuse(entries[n], answer.Err)
		}
	}
	i.counts[t] = count
}

func (i *importing) report(w *window) {
	w.sortBad()
	for _, bad := range w.bad {
		count := i.counts[bad.Type]
		count.Failed++
		i.counts[bad.Type] = count
		if i.BadLine != nil {
			i.BadLine(bad)
		}
	}
	i.lines += w.lines
	if i.Progress != nil {
		i.Progress(i.lines, w.end)
	}
}

// scope is that of the company of lines; those that are shared need none.
func (i *importing) scope(ctx context.Context, d declaration, externalID string) (domain.Scope, error) {
	if d.shared {
		return domain.Scope{Actor: i.By}, nil
	}
	if scope, known := i.scopes[externalID]; known {
		return scope, nil
	}
	company, err := i.Companies.FindExternal(ctx, externalID)
	if err != nil {
		return domain.Scope{}, err
	}
	i.scopes[externalID] = domain.Whole(company.CompanyID).By(i.By)
	return i.scopes[externalID], nil
}
