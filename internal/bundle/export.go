package bundle

import (
	"context"
	"iter"

	"simgraph/domain/note"
)

// Export writes a company, all that Import restores: a line for what Types lists, but no
// access keys, tokens, secrets or mails. The
// same company gives the same text. progress, unless nil, is called for every line.
func Export(ctx context.Context, from note.Snapshot, w *Writer, progress func()) error {
	company, err := from.Company(ctx)
	if err != nil {
		return err
	}
	e := exporting{Writer: w, company: company.ExternalID, progress: progress}
	if err := e.line(Company, company); err != nil {
		return err
	}
	for _, part := range []func() error{
		func() error { return lineAll(e, Operator, from.Operators(ctx)) },
		func() error { return lineAll(e, Tariff, from.Tariffs(ctx)) },
		func() error { return lineAll(e, Group, from.Groups(ctx)) },
		func() error { return lineAll(e, User, from.Users(ctx)) },
		func() error { return lineAll(e, Subscriber, from.Subscribers(ctx)) },
		func() error { return lineAll(e, Membership, from.Memberships(ctx)) },
		func() error { return lineAll(e, Tag, from.Tags(ctx)) },
		func() error { return lineAll(e, Alert, from.Alerts(ctx)) },
		func() error { return lineAll(e, Recipient, from.Recipients(ctx)) },
		func() error { return lineAll(e, Suppression, from.Suppressions(ctx)) },
		func() error { return lineAll(e, AlertLog, from.AlertLog(ctx)) },
		func() error { return lineAll(e, SourceProfile, from.SourceProfiles(ctx)) },
		func() error { return lineAll(e, Question, from.Questions(ctx)) },
		func() error { return lineAll(e, Dashboard, from.Dashboards(ctx)) },
		func() error { return lineAll(e, Report, from.Reports(ctx)) },
		func() error { return lineAll(e, Note, from.Notes(ctx)) },
		func() error { return lineAll(e, Session, from.Sessions(ctx)) },
		func() error { return lineAll(e, Usage, from.Usage(ctx)) },
		w.Flush,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

type exporting struct {
	*Writer
	company  string
	progress func()
}

func (e exporting) line(t Type, value any) error {
	if e.progress != nil {
		e.progress()
	}
	return e.Write(Item{Type: t, Company: e.company, Value: value})
}

func lineAll[T any](e exporting, t Type, values iter.Seq2[T, error]) error {
	for value, err := range values {
		if err == nil {
			err = e.line(t, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
