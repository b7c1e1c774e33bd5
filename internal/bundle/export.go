package bundle

import "context"

// Export writes a company, all that Import restores: a line for what Types lists, but no
// access keys, tokens, secrets or mails. The
// same company gives the same text. progress, unless nil, is called for every line.
func Export(ctx context.Context, from Snapshot, w *Writer, progress func()) error {
	company, err := from.Company(ctx)
	if err != nil {
		return err
	}
	line := func(of Type, value any) error {
		if progress != nil {
			progress()
		}
		return w.Write(Item{Type: of, Company: company.ExternalID, Value: value})
	}
	if err := line(Company, company); err != nil {
		return err
	}
	for _, d := range declarations {
		if d.export == nil {
			continue
		}
		if err := d.export(ctx, from, func(value any) error { return line(d.of, value) }); err != nil {
			return err
		}
	}
	return w.Flush()
}
