package rest

import (
	"net/url"
	"strings"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// pair is a parameter of a query, decoded.
type pair struct{ name, value string }

// parseQuery reads a query strictly. url.ParseQuery drops the pairs that it
// cannot read, and without its filter a list is the whole fleet.
func parseQuery(raw string) ([]pair, error) {
	if strings.Contains(raw, ";") {
		return nil, malformed("the query has a semicolon: separate parameters by &, write %3B in values")
	}
	var pairs []pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		p, err := decodePair(name, value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func decodePair(name, value string) (pair, error) {
	n, err := url.QueryUnescape(name)
	if err != nil {
		return pair{}, malformed("the query has a malformed percent-encoding")
	}
	v, err := url.QueryUnescape(value)
	if err != nil {
		return pair{}, domain.Invalid(n, "%s has a malformed percent-encoding", n)
	}
	return pair{n, v}, nil
}

// checkCase refuses a parameter whose name differs from a known one in the case of
// letters only: ignored, it would answer without the filter that the caller meant.
func checkCase(pairs []pair, known []string) error {
	for _, p := range pairs {
		for _, name := range known {
			if p.name != name && ascii.EqualFold(p.name, name) {
				return domain.Invalid(name, "there is no parameter %.100q; write %s", p.name, name)
			}
		}
	}
	return nil
}

// lookUp returns the value of a parameter; "" when it is missing. To give one
// twice leaves open which is meant.
func lookUp(pairs []pair, name string) (string, error) {
	value, seen := "", false
	for _, p := range pairs {
		if p.name != name {
			continue
		}
		if seen {
			return "", domain.Invalid(name, "%s is given twice", name)
		}
		value, seen = p.value, true
	}
	return value, checkText(name, value)
}
