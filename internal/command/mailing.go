package command

import (
	"path/filepath"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/carrier"
	"simgraph/db/group"
	mails "simgraph/db/mail"
	"simgraph/db/subscriber"
	"simgraph/db/usage"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	rules "simgraph/domain/report"
	"simgraph/domain/webhook"
	"simgraph/internal/mail"
	reporting "simgraph/internal/report"
	"simgraph/internal/seal"
	sending "simgraph/internal/webhook"
)

// Mailing are the flags of the mail that alerts cause.
type Mailing struct {
	SMTPURL      string        `name:"smtp-url" placeholder:"URL" group:"Mail" help:"The mail server for alerts, such as smtp://user:password@host:587. Without it mails become files in the data directory."`
	MailFrom     string        `default:"simgraph <alerts@localhost>" group:"Mail" help:"The sender of mails."`
	PublicURL    string        `name:"public-url" placeholder:"URL" group:"Mail" help:"Where people reach this service, for the links in mails and for identity providers."`
	MailWait     time.Duration `default:"30s" group:"Mail" range:"1ms..24h" help:"How long an alert waits for others, which go to the same recipient in one mail."`
	MailsPerHour int           `default:"20" group:"Mail" range:"1..100000" help:"Mails of alerts to one recipient in an hour; more of them wait and become one mail."`
	MailTimeout  time.Duration `default:"30s" group:"Mail" range:"1ms..1h" help:"The longest that handing over one mail may take. After twice that, a mail whose sender died is sent by another."`
}

// mailsLinks reports whether mails can bring links to sign in.
func (m *Mailing) mailsLinks() bool { return m.SMTPURL != "" && m.PublicURL != "" }

// worker returns who sends the mails of the outbox.
func (m *Mailing) worker(env *Env, v *service, outbox *mails.Outbox) (*mail.Worker, error) {
	return mail.New(mail.Config{
		Outbox: outbox, SMTPURL: m.SMTPURL, Dir: filepath.Join(env.DataDir, "mail"), From: m.MailFrom, PublicURL: m.PublicURL, Log: env.Log,
		Tried: func(r mail.Result) { v.telemetry.Metrics.Mailed(string(r)) }, After: v.pace.After,
		Digest: domain.Digest{Wait: m.MailWait, HourlyCap: m.MailsPerHour}, Timeout: m.MailTimeout,
	})
}

// reporter returns who answers the reports that are due.
func (m *Mailing) reporter(env *Env, pool *sqlx.DB, v *service) *reporting.Worker {
	return reporting.New(reporting.Config{
		Queue: v.reports, PublicURL: m.PublicURL, Log: env.Log, After: v.pace.After,
		Answerer: rules.Answerer{Analytics: usage.NewAnalytics(v.usage), Subscribers: subscriber.New(pool), Groups: group.New(pool)},
	})
}

// Hooking are the flags of webhooks.
type Hooking struct {
	WebhookAllowPrivate bool          `group:"Webhooks" help:"Let webhooks and upstreams call addresses that are not of the public internet, and by http. For intranets and tests: any company can reach what this host reaches."`
	WebhookTimeout      time.Duration `default:"20s" group:"Webhooks" range:"1s..1m" help:"How long an endpoint may take to answer."`
	WebhookRetention    *int          `placeholder:"DAYS" group:"Webhooks" range:"5..3650" help:"How many days a new database keeps messages to webhooks, and commands, 30 when missing. A database that keeps them for another time is refused: see simgraph retention set."`
}

// endpoints returns the webhooks; the key of their secrets is read when one is needed.
func (h *Hooking) endpoints(pool *sqlx.DB, key func() (seal.Key, error)) *hooks.Store {
	return hooks.New(pool, hooks.Options{Key: key, Rules: h.rules(), Settle: carrier.Settle(time.Now), Now: time.Now})
}

func (h *Hooking) rules() webhook.Rules { return webhook.Rules{AllowPrivate: h.WebhookAllowPrivate} }

// sender returns the worker that sends the messages of the store.
func (h *Hooking) sender(env *Env, v *service, store *hooks.Store) *sending.Worker {
	return sending.New(sending.Config{
		Outbox: store, Rules: h.rules(), Log: env.Log, Timeout: h.WebhookTimeout, After: v.pace.After,
		Tried: func(r webhook.Result) { v.telemetry.Metrics.Hooked(string(r)) },
	})
}
