package mail_test

import (
	"encoding/base64"
	"mime"
	netmail "net/mail"
	"strings"
	"testing"

	"simgraph/internal/fatal"
	"simgraph/internal/mail"
)

var trap = "=?utf-8?B?" + base64.StdEncoding.EncodeToString([]byte("invoice\u202e\r\nBcc: victim@example.com")) + "?="

// hostile are names of users, and how a mail is to show them.
var hostile = map[string]string{
	"van 1":                          "van 1",
	trap:                             trap,
	"van " + trap + " 1":             "van " + trap + " 1",
	"=?utf-8?Q?a=0D=0Ab?=":           "=?utf-8?Q?a=0D=0Ab?=",
	"=?iso-8859-1?q?=E4?= =?x?y?z?=": "=?iso-8859-1?q?=E4?= =?x?y?z?=",
	"=?":                             "=?",
	"Ärger " + trap:                  "Ärger " + trap,
	"信号 📡 " + strings.Repeat("車", 90):                        "信号 📡 " + strings.Repeat("車", 90),
	strings.Repeat(trap, 3):                                  strings.Repeat(trap, 3),
	strings.Repeat("x", 250):                                 strings.Repeat("x", 250),
	"two  blanks" + strings.Repeat("  of  a  long  name", 9): "two  blanks" + strings.Repeat("  of  a  long  name", 9),
	"right\u202eleft\u2066\u2069":                            "right left  ",
	"line\r\nBcc: victim@example.com\u2028":                  "line  Bcc: victim@example.com ",
	"e\u0301 combined, \\ and \"quoted\" <tag>":              "e\u0301 combined, \\ and \"quoted\" <tag>",
}

// A header that is read as mail programs do shows the name and nothing else.
func TestSubjectsShowNamesAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, shown := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, nil)
			f := newFixture(t, server)
			f.pool.MustExec(`UPDATE subscribers SET nickname = $1`, name)
			f.pool.MustExec(`UPDATE companies SET name = $1`, name)
			f.fire(100, 1<<40)
			f.alert()
			f.round(sent)
			_, err := f.recipients.SendTest(t.Context(), scope, nil)
			fatal.If(f.t, err)
			f.round(sent)
			for i, want := range []string{"2 alerts of " + shown, "Test alert of " + shown} {
				checkSubject(t, server.mails()[i].Data, want)
			}
			f.alert()
			f.round(sent)
			checkSubject(t, server.mails()[2].Data, "Alert: "+shown+" (s1) exceeded the lower threshold")
		})
	}
}

func checkSubject(t *testing.T, data, want string) {
	t.Helper()
	header := read(t, data).Header
	raw := header.Get("Subject")
	got, err := new(mime.WordDecoder).DecodeHeader(raw)
	fatal.If(t, err)
	if got != want {
		t.Errorf("the subject is shown as %q, want %q, sent as %q", got, want, raw)
	}
	if len(header["Bcc"])+len(header["Subject"]) != 1 {
		t.Errorf("a header was injected: %v", header)
	}
	head, _, _ := strings.Cut(data, "\r\n\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		if len(line) > 998 { // RFC 5322 §2.1.1
			t.Errorf("a line of the header has %d bytes", len(line))
		}
	}
}

func TestTheNameOfTheSenderIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"alerts@sim.example":                                      "",
		"Alerts <alerts@sim.example>":                             "Alerts",
		`"Ops, (night)" <alerts@sim.example>`:                     "Ops, (night)",
		"Ärger & Söhne <alerts@sim.example>":                      "Ärger & Söhne",
		"=?utf-8?q?=C3=84rger?= <alerts@sim.example>":             "Ärger",
		trap + " <alerts@sim.example>":                            "invoice   Bcc: victim@example.com",
		"=?utf-8?q?=E2=80=AEinvoice=0D=0A?= <alerts@sim.example>": "invoice",
	} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, nil)
			f := newFixture(t, server)
			f.cfg.From = from
			f.alert()
			f.round(sent)
			raw := read(t, server.mails()[0].Data).Header.Get("From")
			got, err := netmail.ParseAddress(raw)
			if err != nil || got.Name != want || got.Address != "alerts@sim.example" {
				t.Errorf("the sender is shown as %v, %v, sent as %q", got, err, raw)
			}
		})
	}
	if _, err := mail.New(mail.Config{From: `"` + trap + `" <alerts@sim.example>`}); err == nil {
		t.Error("a name that holds encoded text in quotes was taken")
	}
}
