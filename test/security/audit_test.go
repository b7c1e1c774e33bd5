package security

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/audit"
	"simgraph/domain"
)

// unaudited are the writes that are too many to note singly.
var unaudited = map[string]bool{"recordUsage": true}

// state is every row of the caller's company but those of the audit log.
func (w *world) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(w.rows(t, own.company, nil)) {
		if !strings.HasPrefix(line, "audit_") && !strings.HasPrefix(line, "live_") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (w *world) auditHead(t *testing.T) int64 {
	t.Helper()
	head, err := audit.NewLog(w.pool).Head(t.Context(), domain.Whole(w.company(t, own.company)))
	if err != nil {
		t.Fatal(err)
	}
	return head.Sequence
}

// Whatever changes a row has one entry with who did it and from where,
// and what changes none has none: for every mutation and every path.
func TestEveryWriteIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.tokens["own-admin@acme.example"]
	for _, field := range visibleFields(w.schema.Mutation) {
		if unaudited[field.Name] {
			continue
		}
		given := w.freshTag(t)
		if field.Name == "restoreRecipient" {
			w.refuseMail(t, given[recipientID])
		}
		if field.Name == "retryCommand" {
			w.pool.MustExec(`UPDATE commands SET state = 'failed' WHERE company_id = $1 AND command_id = $2`, w.company(t, own.company), given[commandID])
		}
		if field.Name == "endUserSessions" {
			link, err := w.sessions.Issue(t.Context(), domain.Whole(w.company(t, own.company)), given[userEmail].(string), time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.sessions.ByLink(t.Context(), domain.Origin{}, link.Code); err != nil {
				t.Fatal(err)
			}
		}
		p := w.probe(field, given, walker{schema: w.schema, depth: 2})
		why := ""
		if w.takesReason(field) {
			why = "why " + field.Name
			p.variables["input"].(map[string]any)["reason"] = why
		}
		entry := w.audited(t, field.Name, "graphql", func() answer { return w.query(t, token, p.document, p.variables) })
		if entry == nil {
			continue
		}
		if ofSubscribers := slices.Contains([]string{"Subscriber", "Tag", "Operation"}, entry.SubjectType); ofSubscribers != (why != "") || entry.Reason != why {
			t.Errorf("%s of a %s has the reason %q, want %q", field.Name, entry.SubjectType, entry.Reason, why)
		}
	}
	for _, e := range w.endpoints(t) {
		if e.method == "GET" {
			continue
		}
		given := e.values(w.freshTag(t))
		for _, name := range []string{"nickname", "name"} {
			if _, ok := given[name]; ok {
				given[name] = "newer"
			}
		}
		w.audited(t, e.method+" "+e.path, "rest", func() answer { return e.send(t, w, token, given) })
	}
	log := audit.NewLog(w.pool)
	company := w.company(t, own.company)
	if _, err := log.Verify(t.Context(), domain.Whole(company)); err != nil {
		t.Error(err)
	}
}

// takesReason reports whether a mutation may be told why it is made. The reason of a silence is
// what the silence itself says.
func (w *world) takesReason(mutation *ast.FieldDefinition) bool {
	field := w.schema.Types[mutation.Arguments.ForName("input").Type.Name()].Fields.ForName("reason")
	return field != nil && strings.HasPrefix(field.Description, "Why, in one line of ")
}

// refuseMail suppresses a recipient as the refusal of a mail server does.
func (w *world) refuseMail(t *testing.T, recipientID any) {
	t.Helper()
	w.pool.MustExec(`UPDATE alert_recipients SET suppressed_since = now(), suppressed_reason = 'refused'
WHERE company_id = $1 AND recipient_id = $2`, w.company(t, own.company), recipientID)
}

func (w *world) freshTag(t *testing.T) values {
	t.Helper()
	v := w.fresh(t)
	v[tagName] = "own-audit"
	return v
}

// audited makes a write, and returns its entry.
func (w *world) audited(t *testing.T, what, endpoint string, write func() answer) (last *domain.AuditEntry) {
	t.Helper()
	before, head := w.state(t), w.auditHead(t)
	a := write()
	if a.status >= 300 || a.fault() != "" {
		t.Errorf("%s fails: %s", what, a.body)
	}
	if w.state(t) == before {
		t.Errorf("%s changed nothing", what)
	}
	n := 0
	for entry, err := range audit.NewLog(w.pool).All(t.Context(), domain.Whole(w.company(t, own.company)), head) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		last = entry
		if entry.Name != "own-admin@acme.example" || entry.UserID == 0 || entry.Door != endpoint || entry.Address != "192.0.2.1" ||
			entry.RequestID != a.header.Get("X-Request-Id") {
			t.Errorf("%s is recorded as %+v", what, entry)
		}
	}
	if n != 1 {
		t.Errorf("%s has %d entries", what, n)
	}
	return last
}

// The graph shows the log to users with the permission for users, and its filters work.
func TestTheAuditLogIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.tokens["own-admin@acme.example"]
	edit := fmt.Sprintf(`mutation {editSubscriber(input: {physicalId: "%s", nickname: "vans"}) {subscriber {nickname}}}`, own.physicalID(1))
	if a := w.query(t, token, edit, nil); a.fault() != "" {
		t.Fatalf("%s", a.body)
	}
	a := w.query(t, token, fmt.Sprintf(`{auditLog(filter: {subjectId: {eq: "%s"}, door: {eq: "graphql"}}) {
  totalCount nodes {sequence at action subjectType actor accessKeyId address requestId hash changes {field before after}}}}`, own.physicalID(1)), nil)
	for _, want := range []string{`"totalCount":1`, `"action":"subscriber.edit"`, `"actor":"own-admin@acme.example"`, `{"field":"nickname","before":"own-nick-1","after":"vans"}`} {
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s lacks %s", a.body, want)
		}
	}
}
