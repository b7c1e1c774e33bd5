package report

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// Cell is a text, a number or a time; all are nil where nothing is known.
type Cell struct {
	Text   string
	Number *int64
	Time   time.Time
}

// Table is an answer as lines: what the mail shows and the file beside it has.
type Table struct {
	Columns []string
	Rows    [][]Cell
}

func text(t string) Cell      { return Cell{Text: t} }
func number(n int64) Cell     { return Cell{Number: &n} }
func maybe(n *int64) Cell     { return Cell{Number: n} }
func moment(t time.Time) Cell { return Cell{Time: t} }

var (
	measureWords = map[domain.QuestionMeasure]string{
		domain.MeasureTotal: "Bytes", domain.MeasureReceived: "Bytes received (MT)", domain.MeasureSent: "Bytes sent (MO)", domain.MeasureSessions: "Sessions",
	}
	intervalWords = map[domain.Unit]string{domain.Hourly: "hour", domain.Daily: "day", domain.Weekly: "week", domain.Monthly: "month"}
)

func splitWords(split domain.QuestionSplit) string { return ascii.Lower(string(split)) }

// TableOf lays an answer out, as the page does: the values of a split, hours of the week, or
// steps with a column for each part.
func TableOf(d *domain.QuestionDefinition, a *Answer, zone *time.Location) Table {
	q := asking{d: d}
	measure := measureWords[d.Measure]
	switch {
	case d.Chart == domain.ChartNumber:
		table := Table{Columns: []string{measure}, Rows: [][]Cell{{number(a.Total)}}}
		if a.Former != nil {
			table.Columns, table.Rows[0] = append(table.Columns, "before"), append(table.Rows[0], number(a.Former.Total))
		}
		return table
	case d.Chart == domain.ChartHeatMap:
		return week(measure, a, zone)
	case q.ranks():
		return ranking(splitWords(*d.Split), measure, a)
	}
	return overTime(d, measure, a)
}

func week(measure string, a *Answer, zone *time.Location) Table {
	var hours [7][24]int64
	for i, at := range a.Times {
		local := at.In(zone)
		hours[(int(local.Weekday())+6)%7][local.Hour()] += a.Parts[0].Values[i]
	}
	table := Table{Columns: []string{"weekday", "hour", measure}}
	for day := range hours {
		for hour, n := range hours[day] {
			table.Rows = append(table.Rows, []Cell{text(time.Weekday((day + 1) % 7).String()), number(int64(hour)), number(n)})
		}
	}
	return table
}

func ranking(split, measure string, a *Answer) Table {
	table := Table{Columns: []string{split, "name", measure}}
	if a.Former != nil {
		table.Columns = append(table.Columns, "before", "change")
	}
	for _, part := range a.Parts {
		row := []Cell{text(""), text(part.Label), number(part.Total)}
		if part.Value != nil {
			row[0] = text(*part.Value)
		}
		if a.Former != nil {
			change := Cell{}
			if part.Before != nil {
				change = number(part.Risen())
			}
			row = append(row, maybe(part.Before), change)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func overTime(d *domain.QuestionDefinition, measure string, a *Answer) Table {
	table := Table{Columns: []string{"start"}}
	for _, part := range a.Parts {
		column := measure
		if d.Split != nil {
			column = part.Label
		}
		table.Columns = append(table.Columns, column)
	}
	if a.Former != nil {
		table.Columns = append(table.Columns, "before")
	}
	for i, at := range a.Times {
		row := []Cell{moment(at)}
		for _, part := range a.Parts {
			row = append(row, number(part.Values[i]))
		}
		if a.Former != nil {
			var before Cell
			if i < len(a.Former.Values) {
				before = number(a.Former.Values[i])
			}
			row = append(row, before)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// identifierDigits are as many as a spreadsheet shows of a number; an ICCID has more.
const identifierDigits = 12

// CSV writes the table by RFC 4180: times in UTC, numbers in full. A text that a spreadsheet
// would run as a formula, or take for a number and round, is marked as a text by an apostrophe.
func (t Table) CSV() string {
	var out strings.Builder
	line := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				out.WriteByte(',')
			}
			if strings.ContainsAny(cell, "\",\r\n") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			out.WriteString(cell)
		}
		out.WriteString("\r\n")
	}
	cells := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		cells[i] = guarded(column)
	}
	line(cells)
	for _, row := range t.Rows {
		cells = cells[:0]
		for _, cell := range row {
			switch {
			case cell.Number != nil:
				cells = append(cells, strconv.FormatInt(*cell.Number, 10))
			case !cell.Time.IsZero():
				cells = append(cells, cell.Time.UTC().Format(time.RFC3339))
			default:
				cells = append(cells, guarded(cell.Text))
			}
		}
		line(cells)
	}
	return out.String()
}

func guarded(text string) string {
	isNumber := len(text) >= identifierDigits && strings.Trim(text, "0123456789") == ""
	if isNumber || domain.IsFormula(text) {
		return "'" + text
	}
	return text
}

// Words are what a question asks in words, as the page has them.
func Words(d *domain.QuestionDefinition, group string) string {
	text := measureWords[d.Measure]
	switch {
	case d.GroupID != nil:
		text += " of the group " + cmp.Or(group, strconv.FormatInt(*d.GroupID, 10))
	case d.TagName != nil:
		text += " of the tag " + *d.TagName
	case d.PhysicalID != nil:
		text += " of " + *d.PhysicalID
	}
	q := asking{d: d}
	if d.Split != nil {
		text += " by " + splitWords(*d.Split)
	}
	switch {
	case d.Chart == domain.ChartHeatMap:
		text += " by hour and weekday"
	case !q.ranks() && d.Chart != domain.ChartNumber:
		text += " by " + intervalWords[d.Interval]
	}
	return text
}
