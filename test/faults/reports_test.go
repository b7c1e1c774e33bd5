//go:build linux

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

const (
	// reportKills is how often an instance is killed during the reports that are due, and every
	// third time both.
	reportKills = 12
	// reportsDue is how many reports are due at once, half of them of a dashboard.
	reportsDue = 6
)

// reporting are two servers of the demo company that send its reports.
type reporting struct {
	*testing.T
	nodes [2]*node
	box   *mailbox
	pool  *sqlx.DB
	// recipients get each report.
	recipients []string
}

func newReporting(t *testing.T) *reporting {
	t.Helper()
	url := dbtest.URL(t)
	x := &reporting{T: t, box: newMailbox(t), pool: open(t, url)}
	for i := range x.nodes {
		x.nodes[i] = startNode(t, url, "--smtp-url", "smtp://"+x.box.address+"?starttls=never")
	}
	fatal.If(t, x.pool.SelectContext(t.Context(), &x.recipients, `SELECT email FROM users WHERE NOT disabled ORDER BY email LIMIT 3`))
	var made struct {
		CreateQuestion  struct{ Question struct{ QuestionID string } }
		CreateDashboard struct{ Dashboard struct{ DashboardID string } }
	}
	const definition = `{measure: TOTAL, interval: HOUR, split: GROUP, chart: STACKED, span: LAST_7_DAYS}`
	x.nodes[0].graph(`mutation {createQuestion(input: {name: "By group", definition: `+definition+`}) {question {questionId}}
createDashboard(input: {name: "Review", tiles: [{column: 0, row: 0, width: 6, height: 8, definition: `+definition+`}, {column: 6, row: 0, width: 6, height: 8, definition: `+definition+`}]}) {dashboard {dashboardId}}}`, &made)
	for i := range reportsDue {
		topic := fmt.Sprintf("questionId: %q", made.CreateQuestion.Question.QuestionID)
		if i%2 == 1 {
			topic = fmt.Sprintf("dashboardId: %q", made.CreateDashboard.Dashboard.DashboardID)
		}
		var created any
		x.nodes[0].graph(fmt.Sprintf(`mutation {createReport(input: {%s, frequency: PERIOD_END, recipients: [%s]}) {report {reportId}}}`, topic, quoted(x.recipients)), &created)
	}
	return x
}

// quoted are texts as a list of GraphQL without its brackets.
func quoted(texts []string) (list string) {
	for _, text := range texts {
		list += fmt.Sprintf("%q, ", text)
	}
	return list
}

// make writes to the database as time would: reports become due, or leases end.
func (x *reporting) make(query string) {
	x.Helper()
	_, err := x.pool.ExecContext(x.Context(), query)
	fatal.If(x, err)
}

func (x *reporting) count(query string) (n int) {
	x.Helper()
	fatal.If(x, x.pool.GetContext(x.Context(), &n, query))
	return n
}

// Each due time of a report is one mail to each recipient, in the database exactly and at the
// mail server at least once under one Message-ID, while instances are killed during it.
func TestReportsOutliveKills(t *testing.T) {
	t.Parallel()
	x := newReporting(t)
	during := 0
	for kill := range reportKills {
		x.make(`UPDATE reports SET next_due_at = date_trunc('milliseconds', now()), claimed_until = NULL`)
		eventually(t, "an instance claims a report", func() bool {
			return x.count(`SELECT count(*) FROM reports WHERE claimed_until IS NOT NULL OR next_due_at > now()`) > 0
		})
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		killed := x.nodes[kill%2 : kill%2+1]
		if kill%3 == 2 {
			killed = x.nodes[:]
		}
		for _, n := range killed {
			n.kill()
		}
		if x.count(`SELECT count(*) FROM reports WHERE next_due_at <= now()`)+x.count(`SELECT count(*) FROM mails WHERE kind = 'report' AND state = 'queued'`) > 0 {
			during++
		}
		for _, n := range killed {
			n.start()
		}
		// The lease of one that was killed ends, and so does that of one that goes on.
		x.make(`UPDATE reports SET claimed_until = NULL`)
		eventually(t, "all that was due is answered", func() bool { return x.count(`SELECT count(*) FROM reports WHERE next_due_at <= now()`) == 0 })
	}
	eventually(t, "all mail is sent", func() bool {
		return x.count(`SELECT count(*) FROM mails WHERE kind = 'report' AND state <> 'sent'`) == 0
	})
	var mails []struct {
		MailID, Email string
		Copies        int
	}
	fatal.If(t, x.pool.SelectContext(t.Context(), &mails, `
SELECT mail_id, email, count(*) OVER (PARTITION BY report_id, report_due_at, email) AS copies
FROM mails WHERE kind = 'report'`))
	again := 0
	for _, mail := range mails {
		came := x.box.count(mail.Email, "<"+mail.MailID+"@localhost>")
		if mail.Copies != 1 || came == 0 {
			t.Errorf("%d mails of one due time to %s, and %s came %d times", mail.Copies, mail.Email, mail.MailID, came)
		}
		again += came - 1
	}
	if want := reportKills * reportsDue * len(x.recipients); len(mails) != want {
		t.Errorf("%d mails, not %d", len(mails), want)
	}
	if during == 0 {
		t.Error("no kill came during the reports")
	}
	t.Logf("%d of %d kills during the reports; %d mails, of which %d came again under the same Message-ID", during, reportKills, len(mails), again)
}
