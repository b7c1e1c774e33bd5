package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"simgraph/db"
	"simgraph/domain"
)

// Audit groups the commands about the audit log.
type Audit struct {
	Export AuditExport `cmd:"" help:"Write who did what in a company, a JSON object a line."`
	Verify AuditVerify `cmd:"" help:"Check that no entry was changed or left out."`
}

// AuditExport writes the audit log of a company.
type AuditExport struct {
	Company string `placeholder:"ID" help:"The company; may be left out when there is only one."`
	After   int64  `placeholder:"N" help:"Only the entries after this one."`
	Output  string `short:"o" default:"-" placeholder:"FILE" help:"Where to write; - is standard output."`
}

// Help shows examples.
func (AuditExport) Help() string {
	return `simgraph audit export --company acme --output audit.ndjson
simgraph audit export --company acme --after 1200 >> audit.ndjson

Kept where those who run the database cannot write, an export proves later that
the log was not written anew: see audit verify.`
}

// Run writes the entries, the oldest first.
func (a *AuditExport) Run(ctx context.Context, env *Env) error {
	log, company, done, err := openAudit(ctx, env, "audit export", a.Company)
	if err != nil {
		return err
	}
	defer done()
	return writeTo(env, a.Output, func(out io.Writer) error {
		lines := json.NewEncoder(out)
		for entry, err := range log.All(ctx, domain.Whole(company.CompanyID), a.After) {
			if err != nil {
				return err
			}
			if err := lines.Encode(newAuditLine(company, entry)); err != nil {
				return err
			}
		}
		return nil
	})
}

func openAudit(ctx context.Context, env *Env, command, externalID string) (*db.AuditLog, *domain.Company, func(), error) {
	pool, done, err := env.Open(ctx, command)
	if err != nil {
		return nil, nil, nil, err
	}
	company, err := OneCompany(ctx, db.NewCompanies(pool), externalID)
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	return db.NewAuditLog(pool), company, done, nil
}

// AuditVerify checks the audit log of a company.
type AuditVerify struct {
	Company string   `placeholder:"ID" help:"The company; may be left out when there is only one."`
	Mark    []string `placeholder:"N:HASH" help:"An end of the log that an earlier verify printed (repeatable)."`
	File    string   `type:"existingfile" placeholder:"FILE" help:"An export that the log must begin with."`
}

// Help shows examples.
func (AuditVerify) Help() string {
	return `simgraph audit verify --company acme
simgraph audit verify --company acme --mark 1200:9f86d081884c7d65…
simgraph audit verify --company acme --file audit.ndjson

It prints the end of the log, N:HASH. Whoever notes that elsewhere can prove with
--mark that nothing before it was changed since, not even by who may write to the
database.`
}

// Run checks the chain, and prints its end.
func (a *AuditVerify) Run(ctx context.Context, env *Env) error {
	marks, err := a.marks()
	if err != nil {
		return err
	}
	log, company, done, err := openAudit(ctx, env, "audit verify", a.Company)
	if err != nil {
		return err
	}
	defer done()
	scope := domain.Whole(company.CompanyID)
	head, err := log.Head(ctx, scope) // what is added from now on only makes the log longer
	if err != nil {
		return err
	}
	end, err := domain.VerifyAudit(company.CompanyID, log.All(ctx, scope, 0), append(marks, head)...)
	if err != nil {
		return fmt.Errorf("the audit log of %s: %w", company.ExternalID, err)
	}
	env.printf("%d:%s\n", end.Sequence, end.Hash)
	return nil
}

// marks are those given, and every line of the file.
func (a *AuditVerify) marks() ([]domain.AuditMark, error) {
	var marks []domain.AuditMark
	for _, text := range a.Mark {
		number, hash, ok := strings.Cut(text, ":")
		sequence, err := strconv.ParseInt(number, 10, 64)
		if err != nil || !ok || sequence < 1 || hash == "" {
			return nil, fmt.Errorf("%q is not of the form N:HASH", text)
		}
		marks = append(marks, domain.AuditMark{Sequence: sequence, Hash: hash})
	}
	if a.File == "" {
		return marks, nil
	}
	for line, err := range auditLines(a.File) {
		if err != nil {
			return nil, err
		}
		marks = append(marks, domain.AuditMark{Sequence: line.Sequence, Hash: line.Hash})
	}
	return marks, nil
}

func auditLines(name string) iter.Seq2[auditLine, error] {
	return func(yield func(auditLine, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(auditLine{}, err)
			return
		}
		defer func() { _ = file.Close() }()
		lines := json.NewDecoder(file)
		for {
			var line auditLine
			err := lines.Decode(&line)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}
