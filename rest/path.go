package rest

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"simgraph/domain"
)

// split returns the segments of a path, each percent-decoded once, so that a
// segment may hold a slash. A path that is not clean is no path at all: it is
// never taken for another one.
func split(escaped string) ([]string, error) {
	rest, rooted := strings.CutPrefix(escaped, "/")
	if !rooted {
		return nil, noRoute(escaped)
	}
	segments := strings.Split(rest, "/")
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return nil, malformed("the path has a malformed percent-encoding")
		case decoded == "", decoded == ".", decoded == "..":
			return nil, noRoute(escaped)
		}
		segments[i] = decoded
	}
	return segments, nil
}

// template is a path of the table: literal segments and, in braces, names.
type template []segment

type segment struct {
	literal string
	// name is that of a parameter; "" for a literal.
	name string
	// id marks a parameter that is a positive integer.
	id bool
}

func newTemplate(path string) template {
	var t template
	for part := range strings.SplitSeq(path[1:], "/") {
		name, isName := strings.CutPrefix(part, "{")
		if isName {
			t = append(t, segment{name: strings.TrimSuffix(name, "}")})
		} else {
			t = append(t, segment{literal: part})
		}
	}
	return t
}

// fit reports how a path meets a template.
type fit int

const (
	// unlike: another path.
	unlike fit = iota
	// unfit: the path but for an id that is no positive integer, so that it
	// can name nothing.
	unfit
	fits
)

func (t template) fit(segments []string) fit {
	if len(segments) != len(t) {
		return unlike
	}
	result := fits
	for i, s := range t {
		switch {
		case s.name == "" && s.literal != segments[i]:
			return unlike
		case s.id && !isID(segments[i]):
			result = unfit
		}
	}
	return result
}

// value returns what stands in the segments for the parameter.
func (t template) value(segments []string, name string) (string, bool) {
	for i, s := range t {
		if s.name == name {
			return segments[i], true
		}
	}
	return "", false
}

// isID accepts positive decimal integers in the one form that they are
// written in. How large they may be, the type of the variable says.
func isID(text string) bool {
	return areDigits(text) && text[0] != '0'
}

// maxText bounds a text in bytes, far above what any parameter may have.
const maxText = 64 << 10

// checkText refuses what no text of the service may hold.
func checkText(name, text string) error {
	switch {
	case !utf8.ValidString(text):
		return domain.Invalid(name, "%s is not valid UTF-8", name)
	case strings.IndexByte(text, 0) >= 0:
		return domain.Invalid(name, "%s must not hold control characters", name)
	case len(text) > maxText:
		return domain.Invalid(name, "%s is longer than %d bytes", name, maxText)
	}
	return nil
}
