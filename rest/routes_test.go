package rest

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/graph/generated"
	"simgraph/internal/fatal"
)

// documented are the paths of spec §4 with the permissions of each.
var documented = map[string]string{
	"GET /analytics/data-usage":                         "VIEW_STATISTICS_OVERVIEW",
	"GET /analytics/data-usage/{physicalId}":            "VIEW_STATISTICS_OVERVIEW VIEW_SUBSCRIBER",
	"GET /analytics/data-usage-by-subscriber":           "VIEW_STATISTICS_OVERVIEW",
	"GET /analytics/session-count":                      "VIEW_STATISTICS_OVERVIEW",
	"GET /analytics/session-count/{physicalId}":         "VIEW_STATISTICS_OVERVIEW VIEW_SUBSCRIBER",
	"GET /analytics/data-usage-network-protocol":        "VIEW_STATISTICS_OVERVIEW",
	"GET /analytics/data-usage-ip-address":              "VIEW_STATISTICS_OVERVIEW",
	"GET /analytics/data-usage-ip-address/{physicalId}": "VIEW_STATISTICS_OVERVIEW VIEW_SUBSCRIBER",

	"GET /tags":                                  "VIEW_SUBSCRIBER",
	"GET /subscribers/{physicalId}/tags":         "VIEW_SUBSCRIBER",
	"GET /{tagName}/subscribers":                 "VIEW_SUBSCRIBER",
	"POST /subscribers/{physicalId}":             "VIEW_SUBSCRIBER UPDATE_THE_DETAILS_OF_A_SUBSCRIBER",
	"DELETE /{tagName}/subscribers/{physicalId}": "VIEW_SUBSCRIBER UPDATE_THE_DETAILS_OF_A_SUBSCRIBER",

	"GET /subscribers":                "VIEW_SUBSCRIBER",
	"GET /subscribers/{physicalId}":   "VIEW_SUBSCRIBER",
	"PATCH /subscribers/{physicalId}": "VIEW_SUBSCRIBER UPDATE_THE_DETAILS_OF_A_SUBSCRIBER",

	"GET /subscriber-groups":                       "VIEW_SUBSCRIBER",
	"PATCH /subscriber-groups/{subscriberGroupId}": "VIEW_SUBSCRIBER UPDATE_THE_DETAILS_OF_A_SUBSCRIBER",

	"GET /alerts":                    "VIEW_MONITORING_ALERTS VIEW_A_USERS_DETAILS",
	"POST /alerts":                   "VIEW_MONITORING_ALERTS ADD_MONITORING_ALERTS",
	"PATCH /alerts/{id}":             "VIEW_MONITORING_ALERTS EDIT_MONITORING_ALERTS",
	"DELETE /alerts/{id}":            "VIEW_MONITORING_ALERTS DELETE_MONITORING_ALERTS",
	"GET /alerts/recipients":         "VIEW_MONITORING_ALERTS VIEW_A_USERS_DETAILS",
	"POST /alerts/recipients":        "VIEW_MONITORING_ALERTS VIEW_A_USERS_DETAILS",
	"PATCH /alerts/recipients/{id}":  "VIEW_MONITORING_ALERTS VIEW_A_USERS_DETAILS",
	"DELETE /alerts/recipients/{id}": "VIEW_MONITORING_ALERTS VIEW_A_USERS_DETAILS",
	"GET /alerts/logs":               "VIEW_MONITORING_ALERTS",
}

// endpoints compiles the real routes against the real schema.
func endpoints(t testing.TB) router {
	t.Helper()
	l, err := newLibrary(documents)
	fatal.If(t, err)
	all, err := compile(Config{
		Schema: generated.NewExecutableSchema(generated.Config{}).Schema(),
		Prepare: func(string) (Run, error) {
			return func(context.Context, map[string]any) *graphql.Response { return nil }, nil
		},
	}, l)
	fatal.If(t, err)
	return all
}

func TestEveryDocumentedPathNeedsItsPermissions(t *testing.T) {
	served := map[string]string{}
	for _, e := range endpoints(t) {
		served[e.method+" "+e.path] = joined(e.permissions)
	}
	for path, want := range documented {
		if got, ok := served[path]; !ok || got != want {
			t.Errorf("%s: needs %q, documented is %q", path, got, want)
		}
	}
	for path := range served {
		if _, ok := documented[path]; !ok {
			t.Errorf("%s is served but not documented", path)
		}
	}
}
