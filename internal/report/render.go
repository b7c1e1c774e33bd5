// Package report answers reports that are due, and writes what is sent: a text, a page with a
// picture, and a file.
package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	htmltemplate "html/template"
	"strconv"
	"strings"
	texttemplate "text/template"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/report"
)

//go:embed templates
var templates embed.FS

var (
	textBody = texttemplate.Must(texttemplate.ParseFS(templates, "templates/report.txt"))
	htmlBody = htmltemplate.Must(htmltemplate.ParseFS(templates, "templates/report.html"))
)

const (
	// MostRows bounds the rows of the table in a mail. The file has all.
	MostRows = 60
	// PictureName names the picture of a mail.
	PictureName = "chart.png"
	// FileType is the type of the file of a mail.
	FileType = "text/csv"
	mostCell = 60
)

// Rendered is what is sent.
type Rendered struct {
	Subject, Text, HTML string
	// Picture is a PNG; nil for none.
	Picture  []byte
	CSV      string
	FileName string
	// Rows are how many the file has.
	Rows int
}

// page is what the templates see.
type page struct {
	Company, Title, Words, Span, Zone, Total, Compared string
	Description, Picture                               string
	Columns                                            []string
	Rows                                               [][]string
	Sum                                                []string
	// More are rows that are left out.
	More              int
	IsCut, IsRunning  bool
	File, Link        string
	Unsubscribe, Sent string
}

// Render writes an issue for a company. base is the public URL, "" for none; unsubscribe is
// the link that ends the mails, "" for none.
func Render(company *domain.Company, of *report.Issue, base, unsubscribe string) (*Rendered, error) {
	zone := company.Billing().Zone
	d, answer := &of.Question.Definition, &of.Answer
	table := report.TableOf(d, answer, zone)
	clean := func(text string) string { return domain.OneLine(text, domain.MaxName) }
	p := page{
		Company: clean(company.Name), Title: clean(of.Question.Name), Words: clean(report.Words(d, of.Group)), Span: spanText(answer.Span, zone), Zone: company.TimeZone,
		Total: figure(d, answer.Total), IsCut: answer.IsCut, IsRunning: answer.IsRunning, Unsubscribe: unsubscribe, File: fileName(of, zone),
		Sent: every(of.Schedule, company.TimeZone),
	}
	if of.Question.Description != nil {
		p.Description = clean(*of.Question.Description)
	}
	if answer.Former != nil {
		p.Compared = compared(d, answer, zone)
	}
	if base != "" {
		p.Link = strings.TrimSuffix(base, "/") + "/#/usage?question=" + of.Question.QuestionID
	}
	p.fill(of, table, zone)
	picture, err := chart(of, zone)
	if err != nil {
		return nil, err
	}
	if picture != nil {
		p.Picture = PictureName
	}
	rendered := &Rendered{Subject: p.Title + ", " + p.Span + " (" + p.Company + ")", Picture: picture, CSV: table.CSV(), FileName: p.File, Rows: len(table.Rows)}
	var text, html bytes.Buffer
	if err := cmp.Or(textBody.Execute(&text, p), htmlBody.Execute(&html, p)); err != nil {
		return nil, err
	}
	rendered.Text, rendered.HTML = text.String(), html.String()
	return rendered, nil
}

// fill adds the rows as people read them.
func (p *page) fill(of *report.Issue, table report.Table, zone *time.Location) {
	d, answer := &of.Question.Definition, &of.Answer
	for _, column := range table.Columns {
		p.Columns = append(p.Columns, domain.OneLine(column, mostCell))
	}
	isOfWeek := d.Chart == domain.ChartHeatMap
	for i, row := range table.Rows {
		if i == MostRows {
			p.More = len(table.Rows) - MostRows
			break
		}
		cells := make([]string, len(row))
		for j, cell := range row {
			switch {
			case cell.Number != nil && isOfWeek && j == 1:
				cells[j] = fmt.Sprintf("%02d:00", *cell.Number)
			case cell.Number != nil:
				cells[j] = figure(d, *cell.Number)
			case !cell.Time.IsZero():
				cells[j] = step(d, cell.Time, zone)
			case cell.Text != "":
				cells[j] = domain.OneLine(cell.Text, mostCell)
			default:
				cells[j] = "-"
			}
		}
		p.Rows = append(p.Rows, cells)
	}
	if len(answer.Times) == 0 || isOfWeek {
		return
	}
	p.Sum = []string{"Sum"}
	for _, part := range answer.Parts {
		p.Sum = append(p.Sum, figure(d, part.Total))
	}
	if answer.Former != nil {
		p.Sum = append(p.Sum, figure(d, answer.Former.Total))
	}
}

// Line writes a row of the text.
func (p page) Line(cells []string) string { return strings.Join(cells, " | ") }

const clock = "2 Jan 2006 15:04"

func spanText(span report.Span, zone *time.Location) string {
	from, to := span.Start.In(zone), span.End.In(zone)
	if midnight(from) && midnight(to) {
		last := to.AddDate(0, 0, -1)
		if !last.After(from) {
			return from.Format("2 Jan 2006")
		}
		return from.Format("2 Jan 2006") + " to " + last.Format("2 Jan 2006")
	}
	return from.Format(clock) + " to " + to.Format(clock)
}

// midnight is also the whole hour of UTC that stands for one at half an hour.
func midnight(t time.Time) bool { return t.Hour() == 0 }

func step(d *domain.QuestionDefinition, at time.Time, zone *time.Location) string {
	switch d.Interval {
	case domain.Hourly:
		return at.In(zone).Format(clock)
	case domain.Monthly:
		return at.In(zone).Format("January 2006")
	}
	return at.In(zone).Format("Mon 2 Jan 2006")
}

func compared(d *domain.QuestionDefinition, answer *report.Answer, zone *time.Location) string {
	before := answer.Former.Total
	text := figure(d, before) + " in " + spanText(*answer.Before, zone)
	if before == 0 {
		return text
	}
	return fmt.Sprintf("%+.0f %% on %s", 100*(float64(answer.Total)-float64(before))/float64(before), text)
}

func figure(d *domain.QuestionDefinition, n int64) string {
	if d.Measure == domain.MeasureSessions {
		return strconv.FormatInt(n, 10)
	}
	return Bytes(n)
}

// Bytes writes bytes with the unit that fits.
func Bytes(n int64) string {
	const units = "kMGTPE"
	if n > -1000 && n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n), -1
	for value >= 1000 || value <= -1000 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.2f %cB", value, units[unit])
}

func every(s report.Schedule, zone string) string {
	when := map[report.Frequency]string{report.Daily: "every day", report.Weekly: "every Monday", report.PeriodEnd: "at the end of each billing period"}[s.Frequency]
	return fmt.Sprintf("%s at %02d:00 (%s)", when, s.Hour, zone)
}

func fileName(of *report.Issue, zone *time.Location) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, ascii.Lower(domain.OneLine(of.Question.Name, mostCell))), "-")
	return cmp.Or(name, "usage") + "-" + of.DueAt.In(zone).Format("2006-01-02") + ".csv"
}
