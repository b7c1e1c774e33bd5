package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/domain"
)

// Audit groups the commands about the audit log.
type Audit struct {
	Export AuditExport `cmd:"" help:"Write who did what in a company, a JSON object a line."`
	Verify AuditVerify `cmd:"" help:"Check that no entry was changed or left out."`
}

// Whose describes which audit log is meant.
type Whose struct {
	Company      string `placeholder:"ID" xor:"whose" help:"The company; may be left out when there is only one."`
	Installation bool   `xor:"whose" help:"Instead of a company's: what concerns none, such as migrations and exchanges of keys that there are not."`
}

// AuditExport writes the audit log of a company.
type AuditExport struct {
	Whose
	After  int64  `placeholder:"N" range:"0.." help:"Only the entries after this one."`
	Output string `short:"o" default:"-" placeholder:"FILE" help:"Where to write; - is standard output."`
	Overwriting
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
	if err := a.check(a.Output); err != nil {
		return err
	}
	log, company, done, err := a.open(ctx, env, "audit export")
	if err != nil {
		return err
	}
	defer done()
	return a.writeTo(env, a.Output, func(out io.Writer) error {
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

// open returns the log with its company, which has no number and name for the
// installation.
func (w Whose) open(ctx context.Context, env *Env, command string) (*audit.Log, *domain.Company, func(), error) {
	pool, done, err := env.Open(ctx, command)
	if err != nil {
		return nil, nil, nil, err
	}
	company := &domain.Company{CompanyID: domain.Installation}
	if !w.Installation {
		company, err = OneCompany(ctx, companies.New(pool), w.Company)
	}
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	return audit.NewLog(pool), company, done, nil
}

// AuditVerify checks the audit log of a company.
type AuditVerify struct {
	Whose
	Mark []string `placeholder:"N:HASH" help:"An end of the log that an earlier verify printed (repeatable)."`
	File string   `type:"existingfile" placeholder:"FILE" help:"An export that the log must begin with."`
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
	log, company, done, err := a.open(ctx, env, "audit verify")
	if err != nil {
		return err
	}
	defer done()
	marks, err := a.marks(company.CompanyID)
	if err != nil {
		return err
	}
	end, err := log.Verify(ctx, domain.Whole(company.CompanyID), marks...)
	if err != nil {
		return fmt.Errorf("the audit log of %s: %w", cmp.Or(company.ExternalID, "the installation"), err)
	}
	env.printf("%d:%s\n", end.Sequence, end.Hash)
	return nil
}

// marks are those given, and the end of the file, whose hash covers all of it.
func (a *AuditVerify) marks(company domain.CompanyID) ([]domain.AuditMark, error) {
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
	end, err := verifyExport(company, a.File)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.File, err)
	}
	return append(marks, end), nil
}

// verifyExport checks that an export is one chain, and returns its end. One that
// begins later than with the first entry is taken from its first line on.
func verifyExport(company domain.CompanyID, name string) (domain.AuditMark, error) {
	var chain *domain.AuditChain
	for line, err := range auditLines(name) {
		if err != nil {
			return domain.AuditMark{}, err
		}
		if line.CompanyNumber != company {
			return domain.AuditMark{}, fmt.Errorf("entry %d is of another company", line.Sequence)
		}
		if chain == nil && line.Sequence != 1 {
			chain = domain.NewAuditChain(company, domain.AuditMark{Sequence: line.Sequence, Hash: line.Hash})
			continue
		}
		if chain == nil {
			chain = domain.NewAuditChain(company, domain.AuditMark{})
		}
		if err := chain.Add(line.entry()); err != nil {
			return domain.AuditMark{}, err
		}
	}
	if chain == nil {
		return domain.AuditMark{}, errors.New("there is no entry in it")
	}
	return chain.End(), nil
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

// actor is the account that runs a command, for the audit log.
func actor(command string) *domain.Actor {
	by := &domain.Actor{Name: "unknown", Origin: domain.Origin{Door: command}}
	if account, err := user.Current(); err == nil {
		by.Name = account.Username
	}
	by.Address, _ = os.Hostname() // a machine without a name has none
	return by
}

// auditLine is an entry of the audit log in an export. companyNumber, userId
// and the rest are what the hash covers.
type auditLine struct {
	Company       string           `json:"company"`
	CompanyNumber domain.CompanyID `json:"companyNumber"`
	Sequence      int64            `json:"sequence"`
	At            time.Time        `json:"at"`
	Action        string           `json:"action"`
	SubjectType   string           `json:"subjectType"`
	SubjectID     string           `json:"subjectId"`
	Changes       []auditChange    `json:"changes"`
	UserID        int64            `json:"userId"`
	Actor         string           `json:"actor"`
	AccessKeyID   string           `json:"accessKeyId"`
	Door          string           `json:"door"`
	Address       string           `json:"address"`
	RequestID     string           `json:"requestId"`
	Reason        string           `json:"reason"`
	PhysicalIDs   []string         `json:"physicalIds,omitempty"`
	Hash          string           `json:"hash"`
}

type auditChange struct {
	Field  string  `json:"field"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

func newAuditLine(company *domain.Company, e *domain.AuditEntry) auditLine {
	changes := make([]auditChange, len(e.Changes))
	for i, c := range e.Changes {
		changes[i] = auditChange(c)
	}
	return auditLine{
		Company: company.ExternalID, CompanyNumber: company.CompanyID, Sequence: e.Sequence, At: e.At, Action: e.Action,
		SubjectType: e.SubjectType, SubjectID: e.SubjectID, Changes: changes, UserID: e.UserID, Actor: e.Name, AccessKeyID: e.AccessKeyID,
		Door: e.Door, Address: e.Address, RequestID: e.RequestID, Reason: e.Reason, PhysicalIDs: e.PhysicalIDs, Hash: e.Hash,
	}
}

// entry is what the line was made from.
func (l *auditLine) entry() *domain.AuditEntry {
	changes := make([]domain.AuditChange, len(l.Changes))
	for i, c := range l.Changes {
		changes[i] = domain.AuditChange(c)
	}
	return &domain.AuditEntry{
		Sequence: l.Sequence, At: l.At, Action: l.Action, SubjectType: l.SubjectType, SubjectID: l.SubjectID, Changes: changes, Reason: l.Reason, PhysicalIDs: l.PhysicalIDs, Hash: l.Hash,
		Actor: domain.Actor{
			UserID: l.UserID, Name: l.Actor, AccessKeyID: l.AccessKeyID,
			Origin: domain.Origin{Door: l.Door, Address: l.Address, RequestID: l.RequestID},
		},
	}
}
