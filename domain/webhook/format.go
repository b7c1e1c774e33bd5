package webhook

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// Content is a request's body with its type.
type Content struct {
	Type string
	Body []byte
}

// ContentOf writes the event in the format. The same event gives the same bytes.
func ContentOf(format Format, event []byte) (Content, error) {
	if format == CloudEvents {
		return Content{"application/cloudevents+json; charset=utf-8", event}, nil
	}
	of, err := ParseEvent(event)
	if err != nil {
		return Content{}, err
	}
	title, facts := describe(of)
	if format == Teams {
		return Content{"application/json; charset=utf-8", asJSON(teamsMessage(title, facts))}, nil
	}
	return Content{"application/json; charset=utf-8", asJSON(slackMessage(title, facts))}, nil
}

type fact struct{ Name, Value string }

// describe returns an event in words.
func describe(e *Event) (title string, facts []fact) {
	switch e.Type {
	case AlertFired:
		var of Firing
		_ = json.Unmarshal(e.Data, &of)             // written by newEvent
		if of.Kind == KindVolume || of.Kind == "" { // events of earlier versions have none
			return of.title(), of.facts()
		}
		return describeCondition(e)
	case AlertResolved, SourceSilent:
		return describeCondition(e)
	case SubscriberChanged:
		var of Change
		_ = json.Unmarshal(e.Data, &of)
		return changed(len(of.PhysicalIDs)), []fact{{"Subscribers", strings.Join(of.PhysicalIDs, ", ")}}
	case OperationFinished:
		var of Finish
		_ = json.Unmarshal(e.Data, &of)
		return of.title(), of.facts()
	}
	var of Trial
	_ = json.Unmarshal(e.Data, &of)
	return "Test of the webhook " + of.Name, nil
}

func describeCondition(e *Event) (title string, facts []fact) {
	var of ConditionEntry
	_ = json.Unmarshal(e.Data, &of)
	if of.AlertID != nil {
		facts = []fact{{"Alert", fmt.Sprintf("%d (%s)", *of.AlertID, of.RuleType)}}
	}
	word := "Alert: "
	if e.Type == AlertResolved {
		word = "Resolved: "
	}
	return word + of.Text, facts
}

func changed(n int) string {
	if n == 1 {
		return "A subscriber changed"
	}
	return strconv.Itoa(n) + " subscribers changed"
}

func (f *Finish) title() string {
	what := "Operation"
	if f.IsDryRun {
		what = "Dry run"
	}
	return fmt.Sprintf("%s %s: %s", what, ascii.Lower(f.State), f.Description)
}

func (f *Finish) facts() []fact {
	facts := []fact{{"Changed", fmt.Sprintf("%d of %d subscribers", f.Changed, f.Total)}}
	for _, of := range []struct {
		name string
		n    int
	}{{"Created", f.Created}, {"Removed", f.Removed}, {"Failed", f.Failed}, {"Skipped", f.Skipped}} {
		if of.n > 0 {
			facts = append(facts, fact{of.name, strconv.Itoa(of.n)})
		}
	}
	if f.Reason != nil {
		facts = append(facts, fact{"Reason", *f.Reason})
	}
	return append(facts, fact{"Operation", f.OperationID})
}

func (f *Firing) title() string {
	return fmt.Sprintf("Alert: %s exceeded the %s threshold", f.who(), f.LimitBoundary)
}

func (f *Firing) who() string {
	switch {
	case f.PhysicalID == nil && f.GroupID != nil:
		return fmt.Sprintf("group %s (%d)", domain.OrEmpty(f.GroupName), *f.GroupID)
	case domain.OrEmpty(f.Nickname) != "":
		return fmt.Sprintf("%s (%s)", *f.Nickname, domain.OrEmpty(f.SubscriberID))
	}
	return "subscriber " + domain.OrEmpty(f.SubscriberID)
}

func (f *Firing) facts() []fact {
	facts := []fact{
		{"Usage", strconv.FormatInt(f.Usage, 10) + " bytes"},
		{"Threshold", strconv.FormatInt(f.Threshold, 10) + " bytes"},
		{"Alert", fmt.Sprintf("%d (%s)", f.AlertID, f.RuleType)},
		{"Billing period", "from " + f.PeriodStart.UTC().Format("2 Jan 2006 15:04 UTC")},
	}
	if f.IsLate {
		facts = append(facts, fact{"Late", "usage of a past billing period"})
	}
	return facts
}

// slackMessage is read as plain text but for its first field, which notifications
// show: there the three characters that begin mentions and links are escaped.
func slackMessage(title string, facts []fact) any {
	lines := []string{oneLine(title)}
	for _, f := range facts {
		lines = append(lines, oneLine(f.Name+": "+f.Value))
	}
	return map[string]any{
		"text":         slackEscapes.Replace(lines[0]),
		"mrkdwn":       false,
		"unfurl_links": false,
		"blocks": []any{map[string]any{
			"type": "section",
			"text": map[string]any{"type": "plain_text", "text": cut(strings.Join(lines, "\n"), maxSlackText), "emoji": false},
		}},
	}
}

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// maxSlackText is the longest text of a block, in characters.
const maxSlackText = 3000

// teamsMessage holds its texts in runs, which know no Markdown and no mentions.
func teamsMessage(title string, facts []fact) any {
	body := []any{teamsLine(title, "Bolder")}
	for _, f := range facts {
		body = append(body, teamsLine(f.Name+": "+f.Value, "Default"))
	}
	return map[string]any{
		"type": "message",
		"attachments": []any{map[string]any{
			"contentType": "application/vnd.microsoft.card.adaptive",
			"contentUrl":  nil,
			"content": map[string]any{
				"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body,
			},
		}},
	}
}

func teamsLine(text, weight string) any {
	return map[string]any{
		"type":    "RichTextBlock",
		"inlines": []any{map[string]any{"type": "TextRun", "text": cut(teamsEscapes.Replace(oneLine(text)), maxSlackText), "weight": weight}},
	}
}

// teamsEscapes break HTML, and the functions and bindings of cards: no brace stands
// beside another one or a $.
var teamsEscapes = strings.NewReplacer("<", "‹", ">", "›", "{", " {")

// oneLine replaces what would begin a line or change the direction of the text.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
