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
	// mostRows bounds the table of a question in a mail, and mostTileRows that of a tile. The
	// file has all.
	mostRows, mostTileRows = 60, 20
	// FileType is the type of the files of a mail.
	FileType = "text/csv"
	mostCell = 60
)

// Picture is a PNG that the page of a mail shows.
type Picture struct {
	Name string
	PNG  []byte
}

// Rendered is what is sent.
type Rendered struct {
	Subject, Text, HTML string
	Pictures            []Picture
	Files               []report.File
}

// page is what the templates see.
type page struct {
	Company, Title, Description, Zone string
	IsDashboard                       bool
	Sections                          []section
	// Hidden are tiles that are not seen, LeftOut those beyond the ones that are sent.
	Hidden, LeftOut         int
	Link, Unsubscribe, Sent string
}

// section is an answer as the templates see it.
type section struct {
	// Title is "" where the words are all there is to say.
	Title, Words, Problem, Span, Total, Compared, Picture string
	Columns                                               []string
	Rows                                                  [][]string
	Sum                                                   []string
	// More are rows that are left out.
	More                            int
	IsCut, IsRunning, IsFileLeftOut bool
	File                            string
}

// Render writes an issue for a company. base is the public URL, "" for none; unsubscribe is
// the link that ends the mails, "" for none.
func Render(company *domain.Company, of *report.Issue, base, unsubscribe string) (*Rendered, error) {
	zone := company.Billing().Zone
	p := page{
		Company: clean(company.Name), Title: clean(of.Name), Description: clean(domain.OrEmpty(of.Description)), Zone: company.TimeZone, IsDashboard: of.DashboardID != nil,
		Hidden: of.Hidden, LeftOut: of.LeftOut, Unsubscribe: unsubscribe, Sent: every(of.Schedule, company.TimeZone),
	}
	if base != "" {
		p.Link = strings.TrimSuffix(base, "/") + pathOf(of.Topic)
	}
	rendered := &Rendered{}
	for i := range of.Sections {
		one := &of.Sections[i]
		s := sectionOf(one, zone, p.IsDashboard)
		if one.Problem == "" {
			table := report.TableOf(&one.Question.Definition, &one.Answer, zone)
			s.fill(one, table, zone, p.IsDashboard)
			name, number := of.Name, ""
			if p.IsDashboard {
				name, number = cmp.Or(s.Title, s.Words), strconv.Itoa(i+1)+"-"
			}
			if one.Picture != nil {
				s.Picture = number + "chart.png"
				rendered.Pictures = append(rendered.Pictures, Picture{s.Picture, one.Picture})
			}
			if !one.IsFileLeftOut {
				s.File = number + fileName(name, of.DueAt.In(zone))
				rendered.Files = append(rendered.Files, report.File{FileName: s.File, CSV: table.CSV(), Rows: len(table.Rows)})
			}
		}
		p.Sections = append(p.Sections, s)
	}
	rendered.Subject = p.subject(of, zone)
	var text, html bytes.Buffer
	if err := cmp.Or(textBody.Execute(&text, p), htmlBody.Execute(&html, p)); err != nil {
		return nil, err
	}
	rendered.Text, rendered.HTML = text.String(), html.String()
	return rendered, nil
}

func clean(text string) string { return domain.OneLine(text, domain.MaxName) }

// pathOf is where the page shows what is sent.
func pathOf(of report.Topic) string {
	if of.DashboardID != nil {
		return "/#/dashboards/" + *of.DashboardID
	}
	return "/#/usage?question=" + domain.OrEmpty(of.QuestionID)
}

// subject names the span of a question, and the day of a dashboard, whose tiles may have
// several.
func (p *page) subject(of *report.Issue, zone *time.Location) string {
	when := of.DueAt.In(zone).Format(date)
	if !p.IsDashboard {
		when = p.Sections[0].Span
	}
	return p.Title + ", " + when + " (" + p.Company + ")"
}

// sectionOf is a section without its table.
func sectionOf(of *report.Section, zone *time.Location, isTile bool) section {
	d, answer := &of.Question.Definition, &of.Answer
	s := section{Words: clean(report.Words(d, of.Group)), Problem: of.Problem, IsFileLeftOut: of.IsFileLeftOut}
	if isTile {
		s.Title = clean(of.Question.Name)
	}
	if of.Problem != "" {
		return s
	}
	s.Span, s.Total, s.IsCut, s.IsRunning = spanText(answer.Span, zone), figure(d, answer.Total), answer.IsCut, answer.IsRunning
	if answer.Former != nil {
		s.Compared = compared(d, answer, zone)
	}
	return s
}

// fill adds the rows as people read them.
func (s *section) fill(of *report.Section, table report.Table, zone *time.Location, isTile bool) {
	d, answer := &of.Question.Definition, &of.Answer
	most := mostRows
	if isTile {
		most = mostTileRows
	}
	for _, column := range table.Columns {
		s.Columns = append(s.Columns, domain.OneLine(column, mostCell))
	}
	isOfWeek := d.Chart == domain.ChartHeatMap
	for i, row := range table.Rows {
		if i == most {
			s.More = len(table.Rows) - most
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
		s.Rows = append(s.Rows, cells)
	}
	if len(answer.Times) == 0 || isOfWeek {
		return
	}
	s.Sum = []string{"Sum"}
	for _, part := range answer.Parts {
		s.Sum = append(s.Sum, figure(d, part.Total))
	}
	if answer.Former != nil {
		s.Sum = append(s.Sum, figure(d, answer.Former.Total))
	}
}

// Line writes a row of the text.
func (s section) Line(cells []string) string { return strings.Join(cells, " | ") }

const (
	date  = "2 Jan 2006"
	clock = date + " 15:04"
)

func spanText(span report.Span, zone *time.Location) string {
	from, to := span.Start.In(zone), span.End.In(zone)
	if midnight(from) && midnight(to) {
		last := to.AddDate(0, 0, -1)
		if !last.After(from) {
			return from.Format(date)
		}
		return from.Format(date) + " to " + last.Format(date)
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

func fileName(of string, due time.Time) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, ascii.Lower(domain.OneLine(of, mostCell))), "-")
	return cmp.Or(name, "usage") + "-" + due.Format(time.DateOnly) + ".csv"
}
