package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/report"
	"simgraph/internal/fatal"
)

// answered is a question about days from 1 November on, or without days about the values of a split.
func answered(chart domain.QuestionChart, steps int, parts ...report.Part) *report.Section {
	s := &report.Section{Question: domain.Question{Definition: domain.QuestionDefinition{Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: chart}}}
	if steps == 0 || len(parts) > 1 {
		s.Question.Definition.Split = new(domain.SplitTag)
	}
	for n := range steps {
		s.Answer.Times = append(s.Answer.Times, time.Date(2026, 11, 1+n, 0, 0, 0, 0, time.UTC))
	}
	s.Answer.Parts = parts
	return s
}

func values(of ...int64) report.Part {
	part := report.Part{Label: "all", Values: of}
	for _, n := range of {
		part.Total += n
	}
	return part
}

func drawn(t *testing.T, of *report.Section) image.Image {
	t.Helper()
	data, err := chart(of, time.UTC)
	fatal.If(t, err)
	if data == nil {
		return nil
	}
	picture, err := png.Decode(bytes.NewReader(data))
	fatal.If(t, err)
	if size := picture.Bounds().Size(); size != image.Pt(760, 380) {
		t.Fatalf("the picture has %v pixels", size)
	}
	return picture
}

const (
	// legend is where the legend ends, which has marks of the same colours.
	legend = 40
	// axis is where the axis of the steps is.
	axis = 334
)

// The colours of the first two parts.
var first, second = color.RGBA{84, 112, 198, 255}, color.RGBA{145, 204, 117, 255}

// bars are the lengths of the bars of a colour, from left to right or, of horizontal ones, from top to bottom.
func bars(of image.Image, colour color.RGBA, isHorizontal bool) (lengths []int) {
	across, along := of.Bounds().Dx(), of.Bounds().Dy()
	if isHorizontal {
		across, along = along, across
	}
	for i, isBar := 0, false; i < across; i++ {
		length := 0
		for j := range along {
			x, y := i, j
			if isHorizontal {
				x, y = j, i
			}
			if (y > legend || isHorizontal) && color.RGBAModel.Convert(of.At(x, y)) == colour {
				length++
			}
		}
		switch {
		case length < 3:
			isBar = false
		case !isBar:
			lengths, isBar = append(lengths, length), true
		default:
			lengths[len(lengths)-1] = max(lengths[len(lengths)-1], length)
		}
	}
	return lengths
}

// hasBar reports whether a column of the picture has a bar of the colour.
func hasBar(of image.Image, x int, colour color.RGBA) bool {
	for y := legend; y < axis; y++ {
		if color.RGBAModel.Convert(of.At(x, y)) == colour {
			return true
		}
	}
	return false
}

// wantProportional fails unless the lengths are to each other as the numbers are.
func wantProportional(t *testing.T, lengths []int, numbers ...int64) {
	t.Helper()
	if len(lengths) != len(numbers) {
		t.Fatalf("%d bars of the lengths %v, want %v", len(lengths), lengths, numbers)
	}
	for i := range lengths {
		want := float64(lengths[0]) * float64(numbers[i]) / float64(numbers[0])
		if math.Abs(float64(lengths[i])-want) > 3 {
			t.Fatalf("the bars have the lengths %v, of the numbers %v", lengths, numbers)
		}
	}
}

func TestBarsAreAsLongAsTheNumbersSay(t *testing.T) {
	t.Parallel()
	t.Run("by day", func(t *testing.T) {
		t.Parallel()
		wantProportional(t, bars(drawn(t, answered(domain.ChartBars, 4, values(4000, 1000, 3000, 2000))), first, false), 4000, 1000, 3000, 2000)
	})
	t.Run("one day as a line", func(t *testing.T) {
		t.Parallel()
		if got := bars(drawn(t, answered(domain.ChartLine, 1, values(4000))), first, false); len(got) != 1 || got[0] < 100 {
			t.Fatalf("bars of %v", got)
		}
	})
	t.Run("stacked", func(t *testing.T) {
		t.Parallel()
		picture := drawn(t, answered(domain.ChartStacked, 2, values(2000, 1000), values(1000, 3000)))
		below, above := bars(picture, first, false), bars(picture, second, false)
		if len(below) != 2 || len(above) != 2 {
			t.Fatalf("bars of %v and %v", below, above)
		}
		wantProportional(t, append(below, above...), 2000, 1000, 1000, 3000)
		if x := picture.Bounds().Dx() / 4; !hasBar(picture, x, first) || !hasBar(picture, x, second) {
			t.Fatal("the parts of a day do not stand on each other")
		}
	})
	t.Run("a ranking", func(t *testing.T) {
		t.Parallel()
		ranking := answered(domain.ChartTop, 0, report.Part{Label: "a", Total: 9000}, report.Part{Label: "b", Total: 6000}, report.Part{Label: "c", Total: 3000})
		got := bars(drawn(t, ranking), first, true)
		slices.Sort(got) // the first is drawn below the others
		wantProportional(t, got, 3000, 6000, 9000)
	})
	t.Run("risers", func(t *testing.T) {
		t.Parallel()
		risers := answered(domain.ChartRisers, 0, report.Part{Label: "a", Total: 9000, Before: new(int64(1000))}, report.Part{Label: "b", Total: 9000, AtMost: 5000})
		got := bars(drawn(t, risers), first, true)
		slices.Sort(got)
		wantProportional(t, got, 4000, 8000)
	})
}

func TestARankingHasTwelveBarsAtMost(t *testing.T) {
	t.Parallel()
	var parts []report.Part
	for n := range 14 {
		parts = append(parts, report.Part{Label: strconv.Itoa(n), Total: int64(14_000 - 100*n)})
		want := min(n+1, 12)
		if got := bars(drawn(t, answered(domain.ChartTop, 0, parts...)), first, true); len(got) != want {
			t.Fatalf("%d bars of %d parts", len(got), n+1)
		}
	}
}

func TestNothingIsDrawnWithoutBars(t *testing.T) {
	t.Parallel()
	if got := bars(drawn(t, answered(domain.ChartBars, 3, values(0, 0, 0))), first, false); len(got) != 0 {
		t.Fatalf("bars of %v", got)
	}
}

// What fell has a bar to the other side, as long as the fall.
func TestWhatFellIsDrawnToTheOtherSide(t *testing.T) {
	t.Parallel()
	fell := report.Part{Label: "b", Total: 1000, Before: new(int64(5000))}
	rose := report.Part{Label: "a", Total: 9000, Before: new(int64(1000))}
	both := bars(drawn(t, answered(domain.ChartRisers, 0, rose, fell)), first, true)
	slices.Sort(both)
	wantProportional(t, both, 4000, 8000)
	more := fell
	more.Before = new(int64(9000))
	both = bars(drawn(t, answered(domain.ChartRisers, 0, fell, more)), first, true)
	slices.Sort(both)
	wantProportional(t, both, 4000, 8000)
}

func TestALineIsAsHighAsTheNumbers(t *testing.T) {
	t.Parallel()
	picture := drawn(t, answered(domain.ChartLine, 4, values(1000, 1000, 4000, 4000)))
	var heights []int
	for _, x := range []int{250, 580} { // between two steps that are the same
		for y := legend; y < axis; y++ {
			if red, _, _, _ := picture.At(x, y).RGBA(); red>>8 < 160 {
				heights = append(heights, axis-y)
				break
			}
		}
	}
	wantProportional(t, heights, 1000, 4000)
}

func TestWhatIsNoPicture(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]*report.Section{
		"a number": answered(domain.ChartNumber, 0, values(4000)), "a table": answered(domain.ChartTable, 3, values(1, 2, 3)),
		"no bars of what has no values": answered(domain.ChartTop, 0), "a heat map": answered(domain.ChartHeatMap, 3, values(1, 2, 3)),
	} {
		if of.Question.Definition.Chart == domain.ChartNumber {
			of.Question.Definition.Split = nil
		}
		if drawn(t, of) != nil {
			t.Errorf("%s is drawn", name)
		}
	}
}

func TestLabelsOfAChartAreShortLines(t *testing.T) {
	t.Parallel()
	got := labels([]report.Part{{Label: "van"}, {Label: "a\nb"}, {Label: "abcdefghijklmnopqrstuvwxyz"}})
	for i, want := range []string{"van", "a b", "abcdefghijklmnopqrstuvwx…"} {
		if got[i] != want {
			t.Errorf("got %q, want %q", got[i], want)
		}
	}
}

// A split of which nothing has usage has steps and no parts.
func TestStepsWithoutPartsAreDrawnOrLeftOut(t *testing.T) {
	t.Parallel()
	for _, kind := range []domain.QuestionChart{domain.ChartLine, domain.ChartStacked, domain.ChartBars} {
		for steps := range 3 {
			if _, err := chart(answered(kind, steps), time.UTC); err != nil {
				t.Errorf("%s of %d steps: %v", kind, steps, err)
			}
		}
	}
}
