package transport

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"simgraph/domain/ascii"
)

// Media types of answers.
const (
	typeJSON    = "application/json"
	typeGraphQL = "application/graphql-response+json"
	typeStream  = "text/event-stream"
	typeHTML    = "text/html"
)

// WantsPage reports that a Server answers the request with its Explorer, and
// executes nothing.
func WantsPage(r *http.Request) bool {
	return isGet(r.Method) && accepted(r.Header).page()
}

// Serves reports whether a Server answers requests of the method; others are
// refused.
func Serves(method string) bool { return isGet(method) || method == http.MethodPost }

// isGet reports whether the answer is that of GET, with or without its body.
func isGet(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// acceptance is how much a client wants each media type: 0 (not at all) to 1.
type acceptance struct{ json, graphql, stream, html float64 }

// accepted reads the Accept headers (RFC 9110 §12.5.1). The wildcards stand
// for application/json, which every older client reads.
func accepted(h http.Header) acceptance {
	header := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return acceptance{json: 1}
	}
	a := acceptance{json: -1, graphql: -1, stream: -1, html: -1}
	var application, all float64
	for part := range strings.SplitSeq(header, ",") {
		media, q := mediaRange(part)
		switch media {
		case typeJSON:
			a.json = max(a.json, q)
		case typeGraphQL:
			a.graphql = max(a.graphql, q)
		case typeStream:
			a.stream = max(a.stream, q)
		case typeHTML:
			a.html = max(a.html, q)
		case "application/*":
			application = max(application, q)
		case "*/*":
			all = max(all, q)
		}
	}
	return a.wildcards(application, all)
}

// wildcards fills in what no range named.
func (a acceptance) wildcards(application, all float64) acceptance {
	wild := application
	if wild == 0 {
		wild = all
	}
	if a.json < 0 {
		a.json = wild
	}
	a.graphql = max(a.graphql, 0)
	a.stream = max(a.stream, 0)
	a.html = max(a.html, 0)
	if a.json == 0 && wild > 0 {
		a.graphql = max(a.graphql, wild)
	}
	return a
}

// mediaRange reads one element of an Accept header. What cannot be read, or
// requests another charset than UTF-8, is not acceptable.
func mediaRange(part string) (media string, q float64) {
	media, params, err := mime.ParseMediaType(part)
	if err != nil || !isUTF8(params["charset"]) {
		return "", 0
	}
	q = 1
	if text, given := params["q"]; given {
		q, err = strconv.ParseFloat(text, 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return "", 0
		}
	}
	return media, q
}

func isUTF8(charset string) bool {
	return charset == "" || ascii.EqualFold(charset, "utf-8") || ascii.EqualFold(charset, "utf8")
}

// none reports that nothing here can be served to a program.
func (a acceptance) none() bool { return a.json == 0 && a.graphql == 0 && a.stream == 0 }

// single is the type of an answer that is one document, or "". Of two that
// are wanted alike it is the newer one.
func (a acceptance) single() string {
	switch {
	case a.graphql > 0 && a.graphql >= a.json:
		return typeGraphQL
	case a.json > 0:
		return typeJSON
	default:
		return ""
	}
}

// page reports that a browser requests a page, not a program data.
func (a acceptance) page() bool {
	return a.html > 0 && a.html >= a.json && a.html >= a.graphql && a.html >= a.stream
}

// streams reports whether the answer to an operation goes out as events:
// always for a subscription that may, else where they are liked better.
func (a acceptance) streams(subscription bool) bool {
	if subscription {
		return a.stream > 0
	}
	return a.stream > a.json && a.stream > a.graphql
}
