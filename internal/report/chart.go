package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-analyze/charts"

	"simgraph/domain"
	"simgraph/domain/report"
)

const (
	chartWidth, chartHeight = 760, 380
	// mostBars are drawn of a list; the table has more.
	mostBars = 12
	// mostLabel bounds a name in a chart, in characters.
	mostLabel = 24
)

// chart draws the answer as a PNG; nil for what is no picture: a number, a table, and nothing.
func chart(of *report.Section, zone *time.Location) ([]byte, error) {
	d, answer := &of.Question.Definition, &of.Answer
	write := func(n float64) string { return figure(d, int64(n)) }
	painter := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputPNG, Width: chartWidth, Height: chartHeight})
	var err error
	switch {
	case len(answer.Times) > 1 && d.Chart == domain.ChartLine:
		values := series(answer)
		o := charts.NewLineChartOptionWithData(values)
		o.XAxis.Labels, o.Legend.SeriesNames, o.ValueFormatter = steps(d, answer, zone), labels(answer.Parts), write
		o.YAxis = axisOf(values, write)
		err = painter.LineChart(o)
	case len(answer.Times) > 0 && (d.Chart == domain.ChartLine || d.Chart == domain.ChartStacked || d.Chart == domain.ChartBars):
		values := series(answer)
		o := charts.NewBarChartOptionWithData(values)
		o.StackSeries, o.ValueFormatter = new(true), write
		o.CategoryAxis.Labels, o.Legend.SeriesNames = steps(d, answer, zone), labels(answer.Parts)
		o.ValueAxis = axisOf(values, write)
		err = painter.BarChart(o)
	case len(answer.Times) == 0 && d.Split != nil && len(answer.Parts) > 0:
		parts := answer.Parts[:min(mostBars, len(answer.Parts))]
		values := ranked(d, parts)
		o := charts.NewBarChartOptionWithData(values)
		o.Horizontal, o.ValueFormatter = true, write
		o.CategoryAxis.Labels = labels(parts)
		o.ValueAxis = axisOf(values, write)
		err = painter.BarChart(o)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("draw the report: %w", err)
	}
	return painter.Bytes()
}

// axisOf is the axis of the values. It has 0, from which bars begin: without it their lengths
// would not be to each other as the values are.
func axisOf(values [][]float64, write charts.ValueFormatter) []charts.ValueAxisOption {
	o := charts.ValueAxisOption{ValueFormatter: write}
	isNegative := func(value float64) bool { return value < 0 }
	isPositive := func(value float64) bool { return value > 0 }
	all := slices.Concat(values...)
	if !slices.ContainsFunc(all, isNegative) {
		o.Min = new(0.0)
	} else if !slices.ContainsFunc(all, isPositive) { // the risers of a span in which nothing rose
		o.Max = new(0.0)
	}
	return []charts.ValueAxisOption{o}
}

func series(answer *report.Answer) [][]float64 {
	all := make([][]float64, len(answer.Parts))
	for i, part := range answer.Parts {
		for _, n := range part.Values {
			all[i] = append(all[i], float64(n))
		}
	}
	return all
}

func ranked(d *domain.QuestionDefinition, parts []report.Part) [][]float64 {
	values := make([]float64, len(parts))
	for i := range parts {
		values[i] = float64(parts[i].Total)
		if d.Chart == domain.ChartRisers {
			values[i] = float64(parts[i].Risen())
		}
	}
	return [][]float64{values}
}

func labels(parts []report.Part) []string {
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = domain.OneLine(part.Label, mostLabel)
	}
	return all
}

func steps(d *domain.QuestionDefinition, answer *report.Answer, zone *time.Location) []string {
	all := make([]string, len(answer.Times))
	for i, at := range answer.Times {
		all[i] = step(d, at, zone)
	}
	return all
}
