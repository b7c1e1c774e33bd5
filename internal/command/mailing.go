package command

import (
	"path/filepath"
	"time"

	"simgraph/db"
	"simgraph/domain"
	"simgraph/internal/mail"
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

// worker returns who sends the mails of the outbox.
func (m *Mailing) worker(env *Env, outbox *db.Outbox, tried func(mail.Result)) (*mail.Worker, error) {
	return mail.New(mail.Config{
		Outbox: outbox, SMTPURL: m.SMTPURL, Dir: filepath.Join(env.DataDir, "mail"), From: m.MailFrom, PublicURL: m.PublicURL, Log: env.Log,
		Tried: tried, Digest: domain.Digest{Wait: m.MailWait, HourlyCap: m.MailsPerHour}, Timeout: m.MailTimeout,
	})
}
