package webhook_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
)

func TestAddressesThatAreNotOfTheInternetAreForbidden(t *testing.T) {
	t.Parallel()
	forbidden := []string{
		"127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "168.63.129.16", "100.64.0.1", "100.127.255.255",
		"192.0.0.8", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "100::1",
	}
	for _, text := range forbidden {
		ip := netip.MustParseAddr(text)
		if !(webhook.Rules{}).Forbids(ip) {
			t.Errorf("%s is allowed", text)
		}
		if (webhook.Rules{AllowPrivate: true}).Forbids(ip) {
			t.Errorf("%s is forbidden where all are allowed", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "2a00:1450::1"} {
		if (webhook.Rules{}).Forbids(netip.MustParseAddr(text)) {
			t.Errorf("%s is forbidden", text)
		}
	}
}

func TestURLsThatNoEndpointHasAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "example.com", "http://example.com/", "ftp://example.com/", "https://", "https:///path", "https://user:pass@example.com/", "https://example.com/#x",
		"https://127.0.0.1/", "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://example.com/a b", "https://example.com/\n", "mailto:ops@example.com",
		"https://example.com/" + strings.Repeat("a", webhook.MaxURL),
	} {
		if err := (webhook.Rules{}).CheckURL(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for _, text := range []string{"https://example.com", "https://example.com:8443/a?b=c", "https://1.1.1.1/"} {
		if err := (webhook.Rules{}).CheckURL(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := (webhook.Rules{AllowPrivate: true}).CheckURL("http://127.0.0.1:8080/hook"); err != nil {
		t.Error(err)
	}
}

func TestTheScheduleHasTenAttempts(t *testing.T) {
	t.Parallel()
	var whole time.Duration
	for attempts := 1; attempts < 10; attempts++ {
		least, more := webhook.Next(attempts, 0, 0)
		most, _ := webhook.Next(attempts, 0.999, 0)
		if !more || most < least || most > least*6/5 {
			t.Errorf("after %d attempts: %v to %v, %v", attempts, least, most, more)
		}
		if most > webhook.PutOff {
			t.Errorf("after %d attempts a message is put off by %v", attempts, most)
		}
		whole += least
	}
	if _, more := webhook.Next(10, 0, 0); more {
		t.Error("there is an eleventh attempt")
	}
	if whole != 75*time.Hour+35*time.Minute+5*time.Second {
		t.Errorf("the schedule takes %v", whole)
	}
	if wait, _ := webhook.Next(1, 0, time.Hour); wait != time.Hour {
		t.Errorf("a demand of an hour leads to %v", wait)
	}
}

func TestAnswersAreJudged(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status     int
		retryAfter string
		want       webhook.Outcome
	}{
		{200, "", webhook.Outcome{Delivered: true}}, {204, "60", webhook.Outcome{Delivered: true}}, {0, "", webhook.Outcome{}}, {500, "", webhook.Outcome{}},
		{301, "", webhook.Outcome{}}, {307, "", webhook.Outcome{}}, {410, "", webhook.Outcome{Gone: true}},
		{429, "", webhook.Outcome{Pause: 30 * time.Second}}, {429, "120", webhook.Outcome{Pause: 2 * time.Minute}}, {502, "", webhook.Outcome{Pause: 30 * time.Second}},
		{503, "Tue, 10 Nov 2026 13:00:00 GMT", webhook.Outcome{Pause: time.Hour}}, {503, "Tue, 10 Nov 2026 11:00:00 GMT", webhook.Outcome{}},
		{503, "99999999", webhook.Outcome{Pause: 24 * time.Hour}}, {503, "-5", webhook.Outcome{}}, {504, "soon", webhook.Outcome{Pause: 30 * time.Second}},
	} {
		if got := webhook.Judge(c.status, c.retryAfter, at); got != c.want {
			t.Errorf("%d %q: %+v, want %+v", c.status, c.retryAfter, got, c.want)
		}
	}
}

func TestMessagesAreSigned(t *testing.T) {
	t.Parallel()
	secret, err := webhook.ParseSecret("whsec_MfKQ9r8GKYqTwjUPD8ILPZIo2LaLaSw0aaaaaaaaaaaa")
	fatal.If(t, err)
	header := http.Header{}
	webhook.Sign(header, "msg_1", time.Unix(1614265330, 0), []byte(`{}`), secret, webhook.NewSecret())
	first, second, two := strings.Cut(header.Get(webhook.HeaderSignature), " ")
	if header.Get(webhook.HeaderID) != "msg_1" || header.Get(webhook.HeaderTimestamp) != "1614265330" || !two ||
		!strings.HasPrefix(first, "v1,") || !strings.HasPrefix(second, "v1,") || first == second {
		t.Errorf("%v", header)
	}
	made := webhook.NewSecret()
	if read, err := webhook.ParseSecret(made.String()); err != nil || read.String() != made.String() {
		t.Errorf("%v %v", read, err)
	}
}

// Whatever a name holds, it is one line of plain text.
func TestNamesInMessagesDoNothing(t *testing.T) {
	t.Parallel()
	evil := "<!channel> <@U1> <https://evil.example|x> & <at>all</at>\r\nSecond {{{DATE(2017)}}} ${x} $${{x}} \u202E"
	event := webhook.NewAlertFired("acme", time.Now(), &webhook.Firing{EntryID: 7, Nickname: &evil, PhysicalID: &evil, SubscriberID: &evil, LimitBoundary: "lower"}).JSON()
	slack, err := webhook.ContentOf(webhook.Slack, event)
	fatal.If(t, err)
	var message struct {
		Text   string
		Blocks []struct{ Text struct{ Type, Text string } }
	}
	fatal.If(t, json.Unmarshal(slack.Body, &message))
	if strings.ContainsAny(message.Text, "<>\r\n\u202E") || message.Blocks[0].Text.Type != "plain_text" || strings.Count(message.Blocks[0].Text.Text, "\n") != 4 {
		t.Errorf("%s", slack.Body)
	}
	teams, err := webhook.ContentOf(webhook.Teams, event)
	fatal.If(t, err)
	var card any
	fatal.If(t, json.Unmarshal(teams.Body, &card))
	for _, text := range []string{`"TextBlock"`, `\u003c`, "{{", "${", `\r`, `\n`} {
		if strings.Contains(string(teams.Body), text) {
			t.Errorf("%q is in %s", text, teams.Body)
		}
	}
}

// Both forms of messages have each fact as its name and its value.
func TestMessagesNameTheirFacts(t *testing.T) {
	t.Parallel()
	event := webhook.NewAlertFired("acme", time.Now(), &webhook.Firing{EntryID: 7, Nickname: new("van one"), Usage: 12345, LimitBoundary: "lower"}).JSON()
	for _, format := range []webhook.Format{webhook.Slack, webhook.Teams} {
		content, err := webhook.ContentOf(format, event)
		fatal.If(t, err)
		if !strings.Contains(string(content.Body), "Usage: 12") {
			t.Errorf("%s: %s", format, content.Body)
		}
	}
}

func TestMessagesStayBelow20kB(t *testing.T) {
	t.Parallel()
	ids := slices.Repeat([]string{strings.Repeat("\U0001F697", domain.MaxPhysicalID)}, webhook.MaxSubscribers)
	event := webhook.NewSubscriberChanged("acme", "id", time.Now(), ids).JSON()
	for _, format := range []webhook.Format{webhook.CloudEvents, webhook.Slack, webhook.Teams} {
		content, err := webhook.ContentOf(format, event)
		if err != nil || len(content.Body) >= 20_000 {
			t.Errorf("%s: %d bytes, %v", format, len(content.Body), err)
		}
	}
	parsed, err := webhook.ParseEvent(event)
	if err != nil || parsed.SpecVersion != "1.0" || parsed.Source != "/companies/acme" || parsed.Type != webhook.SubscriberChanged {
		t.Errorf("%+v %v", parsed, err)
	}
}

func TestFiltersSelectEvents(t *testing.T) {
	t.Parallel()
	fired := &webhook.About{Type: webhook.AlertFired, AlertID: 5, Groups: []int64{12}, Tags: []string{"fleet"}}
	both := []webhook.EventType{webhook.AlertFired, webhook.SubscriberChanged}
	for _, c := range []struct {
		filter webhook.Filter
		want   bool
	}{
		{webhook.Filter{EventTypes: both}, true},
		{webhook.Filter{EventTypes: both[1:]}, false},
		{webhook.Filter{EventTypes: both, AlertIDs: []int64{4, 5}}, true},
		{webhook.Filter{EventTypes: both, AlertIDs: []int64{4}}, false},
		{webhook.Filter{EventTypes: both, GroupIDs: []int64{12}}, true},
		{webhook.Filter{EventTypes: both, GroupIDs: []int64{13}}, false},
		{webhook.Filter{EventTypes: both, TagNames: []string{"fleet", "x"}}, true},
		{webhook.Filter{EventTypes: both, TagNames: []string{"x"}}, false},
		{webhook.Filter{EventTypes: both, GroupIDs: []int64{12}, TagNames: []string{"x"}}, false},
	} {
		if got := c.filter.Selects(fired); got != c.want {
			t.Errorf("%+v: %v", c.filter, got)
		}
	}
	changed := &webhook.About{Type: webhook.SubscriberChanged, Groups: []int64{12}}
	if !(&webhook.Filter{EventTypes: both, AlertIDs: []int64{4}}).Selects(changed) {
		t.Error("alerts restrict what is not about alerts")
	}
}

func TestWebhooksOfUsersOfGroupsGetTheirGroupsEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sight webhook.Sight
		event webhook.About
		want  bool
	}{
		{webhook.Sight{}, webhook.About{OfCompany: true}, true},
		{webhook.Sight{Groups: []int64{12}}, webhook.About{Groups: []int64{12}}, true},
		{webhook.Sight{Groups: []int64{12}, Current: []int64{12, 13}}, webhook.About{Groups: []int64{12, 12}}, true},
		{webhook.Sight{Groups: []int64{12}}, webhook.About{Groups: []int64{12, 13}}, false},
		{webhook.Sight{Groups: []int64{12}}, webhook.About{}, false},
		{webhook.Sight{Groups: []int64{12}}, webhook.About{Groups: []int64{12}, OfCompany: true}, false},
		{webhook.Sight{Groups: []int64{12}, Current: []int64{13}}, webhook.About{Groups: []int64{12}}, false},
		{webhook.Sight{Groups: []int64{12}, Blind: true}, webhook.About{Groups: []int64{12}}, false},
	} {
		if got := c.sight.Shows(&c.event); got != c.want {
			t.Errorf("%+v %+v: %v", c.sight, c.event, got)
		}
	}
}
