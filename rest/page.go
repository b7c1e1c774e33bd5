package rest

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"simgraph/domain"
)

// page is the part of a list that is asked for.
type page struct{ limit, offset int }

// bounds are how long a list is when no limit is given, and at most.
type bounds struct{ usual, most int }

// newPage reads limit and offset. A limit that is missing, empty or 0 is the
// usual one; one that is too large is lowered (spec §8).
func newPage(pairs []pair, b bounds) (page, error) {
	limit, err := lookUpCount(pairs, "limit")
	if err != nil {
		return page{}, err
	}
	offset, err := lookUpCount(pairs, "offset")
	if err != nil {
		return page{}, err
	}
	if limit == 0 {
		limit = b.usual
	}
	return page{limit: min(limit, b.most), offset: offset}, nil
}

// lookUpCount reads a whole number that is not negative, also one with a fraction
// of zeros; what is larger than the graph's integers is lowered to the largest of
// them.
func lookUpCount(pairs []pair, name string) (int, error) {
	text, err := lookUp(pairs, name)
	if err != nil || text == "" {
		return 0, err
	}
	whole, fraction, hasPoint := strings.Cut(text, ".")
	if !areDigits(whole) || hasPoint && (!areDigits(fraction) || strings.Trim(fraction, "0") != "") {
		return 0, domain.Invalid(name, "%s must be a whole number from 0, not %.40q", name, text)
	}
	n, err := strconv.ParseInt(whole, 10, 32)
	if err != nil {
		return math.MaxInt32, nil
	}
	return int(n), nil
}

func areDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// announce writes how long the whole list is and where its neighbouring pages
// are. The targets are relative, so that they hold behind any proxy.
func (p page) announce(h http.Header, pairs []pair, total int) {
	h.Set("X-Total-Count", strconv.Itoa(total))
	var links []string
	if p.offset+p.limit < total {
		next := page{p.limit, p.offset + p.limit}
		links = append(links, next.link(pairs, "next"))
	}
	if p.offset > 0 {
		prev := page{p.limit, max(0, min(p.offset, total)-p.limit)}
		links = append(links, prev.link(pairs, "prev"))
	}
	if len(links) > 0 {
		h.Set("Link", strings.Join(links, ", "))
	}
}

// link keeps the other parameters of the query.
func (p page) link(pairs []pair, relation string) string {
	var b strings.Builder
	b.WriteString("<?")
	for _, other := range pairs {
		if other.name != "limit" && other.name != "offset" {
			b.WriteString(url.QueryEscape(other.name) + "=" + url.QueryEscape(other.value) + "&")
		}
	}
	b.WriteString("limit=" + strconv.Itoa(p.limit) + "&offset=" + strconv.Itoa(p.offset))
	b.WriteString(`>; rel="` + relation + `"`)
	return b.String()
}
