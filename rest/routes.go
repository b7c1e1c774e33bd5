package rest

import (
	"net/http"

	"simgraph/domain"
)

// route is one documented path. What else there is to know of it, parameters
// and permissions, its operation says.
type route struct {
	method    string
	path      string
	operation string
	// wrapper is the property around the answer; "" means 204, no content.
	wrapper string
	// most is how long a list may be, and is when no limit is given; 0 stands
	// for the bounds of spec §8.
	most    int
	summary string
}

// routes are matched in this order, per method: a tag listing comes before a
// subscriber, so that /subscribers/subscribers lists the tag "subscribers".
var routes = []route{
	{method: http.MethodGet, path: "/analytics/data-usage", operation: "DataUsage", wrapper: "content",
		summary: "Data usage of the company by direction and hour"},
	{method: http.MethodGet, path: "/analytics/data-usage/{physicalId}", operation: "DataUsageOfSubscriber", wrapper: "content",
		summary: "Data usage of a subscriber by direction and hour"},
	{method: http.MethodGet, path: "/analytics/data-usage-by-subscriber", operation: "DataUsageBySubscriber", wrapper: "content",
		summary: "Data usage of the company by subscriber"},
	{method: http.MethodGet, path: "/analytics/session-count", operation: "SessionCount", wrapper: "content",
		summary: "Sessions of the company by hour"},
	{method: http.MethodGet, path: "/analytics/session-count/{physicalId}", operation: "SessionCountOfSubscriber", wrapper: "content",
		summary: "Sessions of a subscriber by hour"},
	{method: http.MethodGet, path: "/analytics/data-usage-network-protocol", operation: "DataUsageByNetworkProtocol", wrapper: "content",
		summary: "Data usage of the company by network protocol and hour"},
	{method: http.MethodGet, path: "/analytics/data-usage-ip-address", operation: "DataUsageByIpAddress", wrapper: "content",
		summary: "Data usage of the company by IP address"},
	{method: http.MethodGet, path: "/analytics/data-usage-ip-address/{physicalId}", operation: "DataUsageByIpAddressOfSubscriber", wrapper: "content",
		summary: "Data usage of a subscriber by IP address"},

	{method: http.MethodGet, path: "/tags", operation: "ListTags", wrapper: "content",
		summary: "Tags with the number of subscribers that carry each"},
	{method: http.MethodGet, path: "/{tagName}/subscribers", operation: "ListSubscribersOfTag", wrapper: "content",
		summary: "Subscribers that carry a tag"},
	{method: http.MethodGet, path: "/subscribers/{physicalId}/tags", operation: "ListTagsOfSubscriber", wrapper: "content",
		summary: "Tags of a subscriber"},
	{method: http.MethodPost, path: "/subscribers/{physicalId}", operation: "AttachTag",
		summary: "Put a tag on a subscriber"},
	{method: http.MethodDelete, path: "/{tagName}/subscribers/{physicalId}", operation: "DetachTag",
		summary: "Take a tag off a subscriber"},

	{method: http.MethodGet, path: "/subscribers", operation: "ListSubscribers", wrapper: "content",
		summary: "Subscribers, filtered and ordered"},
	{method: http.MethodGet, path: "/subscribers/{physicalId}", operation: "FindSubscriber", wrapper: "content",
		summary: "One subscriber"},
	{method: http.MethodPatch, path: "/subscribers/{physicalId}", operation: "EditSubscriber", wrapper: "content",
		summary: "Change the nickname of a subscriber"},

	{method: http.MethodGet, path: "/subscriber-groups", operation: "ListGroups", wrapper: "content",
		summary: "All subscriber groups"},
	{method: http.MethodPatch, path: "/subscriber-groups/{subscriberGroupId}", operation: "EditGroup", wrapper: "content",
		summary: "Change the name of a subscriber group"},

	{method: http.MethodGet, path: "/alerts", operation: "ListAlerts", wrapper: "contents",
		summary: "Monitoring alerts, filtered and ordered"},
	{method: http.MethodPost, path: "/alerts", operation: "CreateAlert", wrapper: "contents",
		summary: "Set an alert"},
	{method: http.MethodPatch, path: "/alerts/{id}", operation: "EditAlert", wrapper: "contents",
		summary: "Change the thresholds of an alert"},
	{method: http.MethodDelete, path: "/alerts/{id}", operation: "DeleteAlert", wrapper: "contents",
		summary: "Delete an alert"},
	{method: http.MethodGet, path: "/alerts/recipients", operation: "ListRecipients", wrapper: "contents",
		summary: "Recipients of alert mail"},
	{method: http.MethodPost, path: "/alerts/recipients", operation: "CreateRecipient", wrapper: "contents",
		summary: "Add a recipient"},
	{method: http.MethodPatch, path: "/alerts/recipients/{id}", operation: "EditRecipient", wrapper: "contents",
		summary: "Change the address of a recipient"},
	{method: http.MethodDelete, path: "/alerts/recipients/{id}", operation: "DeleteRecipient", wrapper: "contents",
		summary: "Delete a recipient"},
	// The log has no paging in the spec: a list without limit is all there is.
	{method: http.MethodGet, path: "/alerts/logs", operation: "ListAlertLog", wrapper: "contents", most: domain.MaxLogList,
		summary: "Alerts that fired, newest first"},
}
