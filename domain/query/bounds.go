package query

import "fmt"

// Bounds of a filter, however it came in: they keep the SQL, its plan and every
// recursion over the tree small.
const (
	// MaxBytes is the longest text of a filter or order.
	MaxBytes = 4 << 10
	// MaxDepth is how deep parentheses and not may nest in a filter.
	MaxDepth = 20
	// MaxComparisons bounds the comparisons of a filter, each value of an in as one.
	MaxComparisons = 100
)

var (
	tooDeep = fmt.Sprintf("parentheses and not nest deeper than %d", MaxDepth)
	tooMany = fmt.Sprintf("more than %d comparisons, counting the values of in", MaxComparisons)
	tooLong = fmt.Sprintf("longer than %d bytes", MaxBytes)
)

// weight is what a filter costs. An excess stops the walk, so that a hostile tree
// is never walked deeper than MaxDepth allows.
type weight struct {
	comparisons int
	bytes       int
	excess      string
}

// Check refuses, with a *SyntaxError, a filter beyond the bounds or with a missing
// part. What ParseFilter returns has passed.
func Check(e Expr) error {
	if e == nil {
		return nil
	}
	var w weight
	e.weigh(&w, 0)
	if w.excess != "" {
		return &SyntaxError{Reason: w.excess}
	}
	return nil
}

// Comparisons returns how many comparisons the filter has, each value of an in as one;
// 0 for one that is true of every row or of none.
func Comparisons(e Expr) int {
	var w weight
	if e != nil {
		e.weigh(&w, 0)
	}
	return w.comparisons
}

func (e And) weigh(w *weight, nested int) { weighAll(e, w, nested) }
func (e Or) weigh(w *weight, nested int)  { weighAll(e, w, nested) }

func weighAll(exprs []Expr, w *weight, nested int) {
	for _, e := range exprs {
		depth := nested
		if _, ok := e.(Or); ok { // the one that join puts into parentheses
			depth++
		}
		weighPart(e, w, depth)
	}
}

func (e Not) weigh(w *weight, nested int) {
	depth := nested + 1
	switch e.Expr.(type) {
	case And, Or:
		depth++
	}
	weighPart(e.Expr, w, depth)
}

func weighPart(e Expr, w *weight, nested int) {
	switch {
	case w.excess != "":
	case e == nil:
		w.excess = "a condition is missing"
	case nested > MaxDepth:
		w.excess = tooDeep
	default:
		e.weigh(w, nested)
	}
}

func (e Comparison) weigh(w *weight, _ int) {
	w.comparisons += len(e.Values)
	for _, v := range e.Values {
		w.bytes += len(v.Text)
	}
	switch {
	case w.comparisons > MaxComparisons:
		w.excess = tooMany
	case w.bytes > MaxBytes:
		w.excess = tooLong
	}
}
