package resolvers_test

import (
	"strings"
	"testing"
)

// How many SQL statements an operation runs, whatever the number of objects:
// the only way to see one statement per object come back.
func TestStatementsPerOperation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.mustAsk(t, `{subscribers(first: 1) {nodes {physicalId}}}`).at("subscribers", "nodes", 0, "physicalId")
	for _, c := range []struct {
		name, query string
		want        int
	}{
		{"who I am", `{viewer {email permissions company {name currentPeriod {startsAt}} groups {nodes {name}}}}`, 0},
		{"one subscriber with group and tags", `query ($id: String!) {subscriber(by: {physicalId: $id}) {nickname group {name} tags {name}}}`, 1},
		{"one subscriber with its usage, operator and tariff", `query ($id: String!) {subscriber(by: {physicalId: $id}) {dataUsage operator {name} tariff {name currency} group {name} tags {name}}}`, 1},
		{"one subscriber that has no profiles", `query ($id: String!) {subscriber(by: {physicalId: $id}) {dataUsage profiles {physicalId} related {profiles {physicalId}}}}`, 1},
		{"a page", `{subscribers(first: 100) {nodes {physicalId} pageInfo {hasNextPage}}}`, 1},
		{"a page with its total", `{subscribers(first: 2) {totalCount edges {cursor node {physicalId}}}}`, 2},
		{"a whole list with its total", `{subscribers(first: 100, filter: {physicalId: {eq: "nobody"}}) {totalCount edges {cursor node {physicalId}}}}`, 1},
		{"a page with all relations",
			`{subscribers(first: 100) {nodes {group {name numberOfUsers} operator {name} tariff {name} tags {name numberOfSubscribers} numberOfTags
			   dataUsage profiles {physicalId} parent {physicalId subscriber {nickname}} related {profiles {physicalId}}}}}`, 6},
		{"groups with subscribers with tags",
			`{groups(first: 20) {nodes {name subscribers(first: 20) {totalCount nodes {physicalId tags {name}}}}}}`, 3},
		{"two parts of each group", `{groups {nodes {a: subscribers(first: 1) {nodes {nickname}} b: subscribers(last: 2) {nodes {nickname}}}}}`, 3},
		{"tags with counts", `{tags {nodes {name numberOfSubscribers}}}`, 2},
		{"names of tags", `{tags {nodes {name} totalCount}}`, 1},
		{"tags with subscribers with groups", `{tags {nodes {subscribers(first: 5) {nodes {group {name}}}}}}`, 2},
		{"from subscribers over groups to subscribers", `{subscribers(first: 100) {nodes {group {subscribers(first: 2) {nodes {tags {name}}}}}}}`, 2},
		{"by offset", `{subscriberList(limit: 100, filter: "isActive eq true") {totalCount items {physicalId group {name}}}}`, 2},
		{"in fragments", `{subscribers(first: 50) {...page}} fragment page on SubscriberConnection {nodes {...one}} fragment one on Subscriber {tags {name}}`, 1},
		{"left out by a directive", `{subscribers(first: 50) {nodes {nickname tags @include(if: false) {name}}}}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var variables []any
			if strings.Contains(c.query, "$id") {
				variables = []any{"id", id}
			}
			s.mustTake(t, c.want, c.query, variables...)
		})
	}
}
