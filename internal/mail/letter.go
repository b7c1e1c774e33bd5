package mail

import (
	"embed"
	"fmt"
	htmltemplate "html/template"
	netmail "net/mail"
	"net/url"
	"strings"
	texttemplate "text/template"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"simgraph/domain"
)

//go:embed templates
var templates embed.FS

var (
	functions = map[string]any{"bytes": humanBytes, "time": humanTime, "who": who, "clean": clean}
	textBody  = texttemplate.Must(texttemplate.New("alerts.txt").Funcs(functions).ParseFS(templates, "templates/alerts.txt"))
	htmlBody  = htmltemplate.Must(htmltemplate.New("alerts.html").Funcs(functions).ParseFS(templates, "templates/alerts.html"))
)

// writer writes letters as messages.
type writer struct {
	from *netmail.Address
	// base is nil where there are no unsubscribe links.
	base *url.URL
}

// content is what the templates see.
type content struct {
	*domain.Letter
	Subject string
	// More is how many entries are not listed.
	More        int
	Unsubscribe string
}

func (w writer) write(letter *domain.Letter) (*gomail.Msg, error) {
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	message.FromMailAddress(w.from)
	message.ToMailAddress(&netmail.Address{Address: letter.Email})
	message.Subject(subject(letter))
	message.SetDateWithValue(letter.CreatedAt.UTC())
	message.SetMessageIDWithValue(letter.MailID + "@" + w.domain())
	// RFC 3834: no vacation notice is to answer.
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	c := content{Letter: letter, Subject: subject(letter), More: letter.Total - len(letter.Entries)}
	if w.base != nil {
		c.Unsubscribe = unsubscribeLink(w.base, letter)
		message.SetListUnsubscribe("<" + c.Unsubscribe + ">")
		if w.base.Scheme == "https" { // RFC 8058 §3.1 wants it for one click
			message.SetListUnsubscribePost()
		}
	}
	if err := message.SetBodyTextTemplate(textBody, c); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritable, err)
	}
	if err := message.AddAlternativeHTMLTemplate(htmlBody, c); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritable, err)
	}
	return message, nil
}

// domain is that of the sender: with the mail's id it makes a Message-ID.
func (w writer) domain() string {
	return w.from.Address[strings.LastIndexByte(w.from.Address, '@')+1:]
}

func subject(letter *domain.Letter) string {
	switch {
	case letter.Kind == domain.MailTest:
		return "Test alert of " + clean(letter.Company.Name)
	case letter.Total == 1:
		e := letter.Entries[0]
		return fmt.Sprintf("Alert: %s exceeded the %s threshold", who(e), e.LimitBoundary)
	}
	return fmt.Sprintf("%d alerts of %s", letter.Total, clean(letter.Company.Name))
}

// who names the subject of an entry, on one line whatever its name holds.
func who(e *domain.LetterEntry) string {
	switch {
	case e.GroupID != nil:
		return fmt.Sprintf("group %s (%d)", clean(e.GroupName), *e.GroupID)
	case e.Nickname != "":
		return fmt.Sprintf("%s (%s)", clean(e.Nickname), clean(e.SubscriberID))
	}
	return "subscriber " + clean(e.SubscriberID)
}

// clean makes a text fit for a line of a header or of a text: every control
// character, among them CR and LF, becomes a blank, and there is not too much.
func clean(text string) string {
	const most = 256
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func humanTime(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") }

// humanBytes writes bytes with the unit that fits.
func humanBytes(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n), -1
	for value >= 1000 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.2f %cB", value, units[unit])
}
