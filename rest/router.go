package rest

import (
	"net/http"
	"slices"
	"strings"
)

// router finds the endpoint of a request. It is not http.ServeMux: that one
// panics on /{tagName}/subscribers beside /subscribers/{physicalId}, and
// redirects paths that are not clean.
type router []*endpoint

// find returns the endpoint for the method and the segments of a path, or an
// error: no such path, or not with that method.
func (all router) find(method string, segments []string) (*endpoint, error) {
	served := method
	if method == http.MethodHead {
		served = http.MethodGet
	}
	var forgotten *endpoint
	for _, e := range all {
		if e.method != served {
			continue
		}
		switch e.template.fit(segments) {
		case fits:
			return e, nil
		case unfit:
			forgotten = e
		}
	}
	if forgotten != nil {
		// Its answer is that nothing has such an id, for those who may ask.
		return forgotten, nil
	}
	return nil, all.refuse(method, segments)
}

func (all router) refuse(method string, segments []string) error {
	if allowed := all.allowed(segments); len(allowed) > 0 {
		return wrongMethod(method, allowed)
	}
	return noRoute("/" + strings.Join(segments, "/"))
}

// allowed returns the methods that the path serves, sorted.
func (all router) allowed(segments []string) []string {
	var methods []string
	for _, e := range all {
		if e.template.fit(segments) != fits {
			continue
		}
		methods = append(methods, e.method)
		if e.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}
