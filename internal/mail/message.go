package mail

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	htmltemplate "html/template"
	netmail "net/mail"
	"net/url"
	"strings"
	texttemplate "text/template"
	"time"

	gomail "github.com/wneessen/go-mail"

	"simgraph/domain"
	rules "simgraph/domain/report"
	"simgraph/domain/signin"
	"simgraph/internal/report"
)

//go:embed templates
var templates embed.FS

var (
	functions = map[string]any{"bytes": report.Bytes, "time": humanTime, "who": who, "clean": clean}
	textBody  = texttemplate.Must(texttemplate.New("alerts.txt").Funcs(functions).ParseFS(templates, "templates/alerts.txt"))
	htmlBody  = htmltemplate.Must(htmltemplate.New("alerts.html").Funcs(functions).ParseFS(templates, "templates/alerts.html"))

	linkText = texttemplate.Must(texttemplate.New("link.txt").Funcs(functions).ParseFS(templates, "templates/link.txt"))
	linkHTML = htmltemplate.Must(htmltemplate.New("link.html").Funcs(functions).ParseFS(templates, "templates/link.html"))
)

// writer turns the content of a mail into a message.
type writer struct {
	from *netmail.Address
	// base is nil where there are no unsubscribe links.
	base *url.URL
}

// templateData is what the templates see.
type templateData struct {
	*domain.MailContent
	Subject string
	// More is how many entries are not listed.
	More        int
	Unsubscribe string
	// Link signs in; "" in mails that sign nobody in.
	Link string
}

// headed is a message without a body.
func (w writer) headed(content *domain.MailContent, subject string) *gomail.Msg {
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	message.FromMailAddress(w.from)
	message.ToMailAddress(&netmail.Address{Address: content.Email})
	message.Subject(headerText(subject))
	message.SetDateWithValue(content.CreatedAt.UTC())
	message.SetMessageIDWithValue(content.MailID + "@" + w.domain())
	// RFC 3834: no vacation notice is to answer.
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	return message
}

// offerEnd lets mail programs unsubscribe by the link.
func (w writer) offerEnd(message *gomail.Msg, link string) {
	message.SetListUnsubscribe("<" + link + ">")
	if w.base.Scheme == "https" { // RFC 8058 §3.1 wants it for one click
		message.SetListUnsubscribePost()
	}
}

func (w writer) write(content *domain.MailContent) (*gomail.Msg, error) {
	if content.Kind == domain.MailReport {
		return w.report(content)
	}
	message := w.headed(content, subject(content))
	data := templateData{MailContent: content, Subject: subject(content), More: content.Total - len(content.Entries) - len(content.ConditionEntries)}
	text, html := textBody, htmlBody
	switch {
	case content.Kind.SignsIn():
		if w.base == nil {
			return nil, fmt.Errorf("%w: a link to sign in needs the public URL", errUnwritable)
		}
		data.Link = signin.LinkTo(w.base.String(), content.SignIn)
		text, html = linkText, linkHTML
	case w.base != nil:
		data.Unsubscribe = unsubscribeLink(w.base, content)
		w.offerEnd(message, data.Unsubscribe)
	}
	if err := message.SetBodyTextTemplate(text, data); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritable, err)
	}
	if err := message.AddAlternativeHTMLTemplate(html, data); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritable, err)
	}
	return message, nil
}

// report writes a mail with the answer of a report.
func (w writer) report(content *domain.MailContent) (*gomail.Msg, error) {
	var issue rules.Issue
	if err := json.Unmarshal(content.Report, &issue); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritable, err)
	}
	base, end := "", ""
	if w.base != nil {
		base, end = w.base.String(), reportEndLink(w.base, content)
	}
	rendered, err := report.Render(content.Company, &issue, base, end)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritable, err)
	}
	message := w.headed(content, rendered.Subject)
	if end != "" {
		w.offerEnd(message, end)
	}
	message.SetBodyString(gomail.TypeTextPlain, rendered.Text)
	message.AddAlternativeString(gomail.TypeTextHTML, rendered.HTML)
	for _, picture := range rendered.Pictures {
		if err := message.EmbedReader(picture.Name, bytes.NewReader(picture.PNG)); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnwritable, err)
		}
	}
	for _, file := range rendered.Files {
		if err := message.AttachReader(file.FileName, strings.NewReader(file.CSV), gomail.WithFileContentType(report.FileType)); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnwritable, err)
		}
	}
	return message, nil
}

// domain is that of the sender: with the mail's id it makes a Message-ID.
func (w writer) domain() string {
	return w.from.Address[strings.LastIndexByte(w.from.Address, '@')+1:]
}

func subject(content *domain.MailContent) string {
	switch {
	case content.Kind == domain.MailTest:
		return "Test alert of " + clean(content.Company.Name)
	case content.Kind == domain.MailInvitation:
		return "Invitation to simgraph of " + clean(content.Company.Name)
	case content.Kind == domain.MailLink:
		return "Your link to sign in to simgraph of " + clean(content.Company.Name)
	case content.Kind == domain.MailWebhook:
		return "A webhook of " + clean(content.Company.Name) + " was disabled"
	case content.Total == 1 && len(content.ConditionEntries) == 1:
		return fmt.Sprintf("Alert: %s %s", content.ConditionEntries[0].Who, content.ConditionEntries[0].What)
	case content.Total == 1:
		e := content.Entries[0]
		return fmt.Sprintf("Alert: %s exceeded the %s threshold", who(e), e.LimitBoundary)
	}
	return fmt.Sprintf("%d alerts of %s", content.Total, clean(content.Company.Name))
}

// who names the subject of an entry, on one line whatever its name holds.
func who(e *domain.MailEntry) string {
	switch {
	case e.GroupID != nil:
		return fmt.Sprintf("group %s (%d)", clean(e.GroupName), *e.GroupID)
	case e.Nickname != "":
		return fmt.Sprintf("%s (%s)", clean(e.Nickname), clean(e.SubscriberID))
	}
	return "subscriber " + clean(e.SubscriberID)
}

// clean makes a text fit for a line of a header or of a text.
func clean(text string) string { return domain.OneLine(text, domain.MaxName) }

func humanTime(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") }
