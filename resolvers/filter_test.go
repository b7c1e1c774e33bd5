package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/engine/guard"
	"simgraph/graph/generated"
)

// What a field shows as null is what eq: null finds, in the order where null is the lowest.
func TestTheNullOfAnAnswerIsTheNullOfAFilter(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.pool.MustExec(`UPDATE subscribers SET nickname = '' WHERE key % 3 = 0`)
	for _, field := range []string{"nickname", "imsi"} {
		found := s.mustAsk(t, `{
  all: subscribers(first: 100, orderBy: [{field: `+strings.ToUpper(field)+`}], filter: {isBarred: {eq: false}}) {nodes {value: `+field+`}}
  none: subscribers(filter: {`+field+`: {eq: null}, isBarred: {eq: false}}) {totalCount}
  some: subscribers(filter: {`+field+`: {ne: null}, isBarred: {eq: false}}) {totalCount}
}`)
		nulls := 0
		for i, node := range found.at("all", "nodes").([]any) {
			value := node.(map[string]any)["value"]
			if value == nil && nulls == i {
				nulls++
			} else if value == nil || value == "" {
				t.Errorf("%s: %v stands at %d, after %d of null", field, value, i, nulls)
			}
		}
		none, some := found.at("none", "totalCount").(float64), found.at("some", "totalCount").(float64)
		if nulls == 0 || int(none) != nulls || some == 0 || int(none+some) < len(found.at("all", "nodes").([]any)) {
			t.Errorf("%s: %d are null, eq: null finds %v, ne: null %v", field, nulls, none, some)
		}
	}
}

// What is empty matches nothing or is refused; it never matches the whole fleet by
// accident.
func TestAnEmptyConditionNeverMeansEverythingByAccident(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	all := s.mustAsk(t, `{subscribers {totalCount}}`).at("subscribers", "totalCount")
	active := s.mustAsk(t, `{subscribers(filter: {isActive: {eq: true}}) {totalCount}}`).at("subscribers", "totalCount")
	if all == active {
		t.Fatal("every subscriber is active")
	}
	for filter, want := range map[string]any{
		`null`:                                     all,
		`{}`:                                       all,
		`{nickname: null}`:                         all,
		`{and: []}`:                                all,
		`{not: {or: []}}`:                          all,
		`{not: {physicalId: {in: []}}}`:            all,
		`{or: []}`:                                 0.0,
		`{not: {and: []}}`:                         0.0,
		`{physicalId: {in: []}}`:                   0.0,
		`{tags: {in: []}}`:                         0.0,
		`{lineRental: {in: []}}`:                   0.0,
		`{isActive: {eq: true}, or: []}`:           0.0,
		`{isActive: {eq: true}, and: []}`:          active,
		`{or: [{isActive: {eq: true}}]}`:           active,
		`{or: [{or: []}, {isActive: {eq: true}}]}`: active,
		`{nickname: {like: "%"}, imsi: {in: []}}`:  0.0,
	} {
		a := s.mustAsk(t, `{subscribers(filter: `+filter+`) {totalCount nodes {id}}}`)
		nodes := len(a.at("subscribers", "nodes").([]any))
		if got := a.at("subscribers", "totalCount"); got != want || (nodes == 0) != (want == 0.0) {
			t.Errorf("%s: %v, want %v; %d nodes", filter, got, want, nodes)
		}
	}
	for filter, place := range map[string]string{
		`{not: {}}`:                                    "filter.not",
		`{not: {not: {}}}`:                             "filter.not.not",
		`{or: [{isActive: {eq: true}}, {}]}`:           "filter.or[1]",
		`{or: [{nickname: null}]}`:                     "filter.or[0]",
		`{and: [{or: [{and: [{}]}]}]}`:                 "filter.and[0].or[0].and[0]",
		`{or: [{nickname: {}}]}`:                       "filter.or[0].nickname",
		`{nickname: {}}`:                               "filter.nickname",
		`{networkState: {}}`:                           "filter.networkState",
		`{related: {parent: {isEnabledOnParent: {}}}}`: "filter.related.parent.isEnabledOnParent",
	} {
		a := s.ask(t, `{subscribers(filter: `+filter+`) {totalCount}}`)
		if a.code() != "INVALID_PARAMETER" || a.Errors[0].Extensions["field"] != place || !strings.HasPrefix(a.Errors[0].Message, place+" has no condition") {
			t.Errorf("%s: %v", filter, a.Errors)
		}
	}
}

func TestErrorsOfFiltersAreWrittenForTheirReader(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	many := `{or: [` + strings.Repeat(`{nickname: {eq: "x"}}, `, 101) + `]}`
	for query, want := range map[string]string{
		`{subscribers(filter: {nickname: {like: null}}) {totalCount}}`:   "filter.nickname.like: a text is expected, not null",
		`{subscribers(filter: {or: [{tags: {eq: null}}]}) {totalCount}}`: "filter.or[0].tags.eq: a set is never null",
		`{subscribers(filter: {physicalId: {in: null}}) {totalCount}}`:   "filter.physicalId.in: a list is expected, not null",
		`{subscribers(filter: ` + many + `) {totalCount}}`:               "filter: more than 100 comparisons, counting the values of in",
		`{subscriberList(filter: "nickname \"x\"") {totalCount}}`:        `filter: column 10, '"x"': an operator is expected: eq, ne, gt, ge, lt, le, like or in`,
		`{subscriberList(filter: "isActive eq") {totalCount}}`:           "filter: column 12, end of text: a value is expected",
		`{subscriberList(orderBy: "nickname, nickname") {totalCount}}`:   `orderBy: column 11, "nickname": the field is named twice`,
		`{subscriberList(filter: "kind eq NON_IP") {totalCount}}`:        `filter: column 9, "NON_IP": one of cellular, non-ip, satellite is expected`,
		`{alertList(filter: "name eq x") {totalCount}}`:                  `filter: column 1, "name": no such field; the fields are id, ruleType, target, lowerThreshold, upperThreshold, dateCreated`,
	} {
		a := s.ask(t, query)
		if len(a.Errors) != 1 || a.Errors[0].Message != want {
			t.Errorf("%s\n got %s\nwant %s", query, fmt.Sprint(a.Errors), want)
		}
	}
}

// TestEnumsAreFilteredByThemselves compares each list's filter with what it lists: a
// field of an enum is filtered by that enum, and every value of it can be asked for.
func TestEnumsAreFilteredByThemselves(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	checked := 0
	for _, root := range schema.Query.Fields {
		argument := root.Arguments.ForName("filter")
		if argument == nil || schema.Types[argument.Type.Name()].Kind != ast.InputObject {
			continue
		}
		filter := schema.Types[argument.Type.Name()]
		item := schema.Types[strings.TrimSuffix(filter.Name, "Filter")]
		if item == nil {
			item = schema.Types[schema.Types[root.Type.Name()].Fields.ForName("nodes").Type.Name()]
		}
		for _, condition := range filter.Fields {
			listed := item.Fields.ForName(condition.Name)
			if listed == nil || schema.Types[listed.Type.Name()].Kind != ast.Enum {
				continue
			}
			checked++
			enum := listed.Type.Name()
			if condition.Type.Name() != enum+"Filter" {
				t.Errorf("%s.%s is a %s, want %sFilter", filter.Name, condition.Name, condition.Type.Name(), enum)
				continue
			}
			s.filterByEach(t, root.Name, condition.Name, schema.Types[enum])
		}
	}
	if checked < 14 {
		t.Errorf("%d fields of enums can be filtered by, want 14 or more", checked)
	}
}

// filterByEach compares the counts of each value with the count of the whole list.
func (s *stack) filterByEach(t *testing.T, root, field string, enum *ast.Definition) {
	t.Helper()
	count := func(condition string) float64 {
		return s.mustAsk(t, fmt.Sprintf(`{%s(filter: {%s: {%s}}) {totalCount}}`, root, field, condition)).at(root, "totalCount").(float64)
	}
	whole := s.mustAsk(t, fmt.Sprintf(`{%s {totalCount}}`, root)).at(root, "totalCount").(float64)
	sum := 0.0
	var values []string
	for _, value := range enum.EnumValues {
		values = append(values, value.Name)
		of := count("eq: " + value.Name)
		if without := count("notIn: [" + value.Name + "]"); of+without != whole || count("ne: "+value.Name) != without {
			t.Errorf("%s by %s %s: %v, without %v, of %v", root, field, value.Name, of, without, whole)
		}
		sum += of
	}
	without := count("eq: null")
	if all := count("in: [" + strings.Join(values, ", ") + "]"); sum+without != whole || all != sum {
		t.Errorf("%s by %s: %v in parts, %v by all values, %v without one, of %v", root, field, sum, all, without, whole)
	}
}

// Every connection is filtered and ordered in the same manner: by a typed filter with and,
// or and not, and by an order, and by no argument beside them.
func TestEveryConnectionTakesAFilterAndAnOrder(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	checked := 0
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			name := definition.Name + "." + field.Name
			if definition.Kind != ast.Object || !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			checked++
			for _, fault := range faultsOfConnection(schema, field) {
				t.Errorf("%s: %s", name, fault)
			}
		}
	}
	if checked < 25 {
		t.Errorf("%d connections were looked at", checked)
	}
}

func faultsOfConnection(schema *ast.Schema, field *ast.FieldDefinition) (faults []string) {
	for _, argument := range field.Arguments {
		if !slices.Contains([]string{"first", "after", "last", "before", "filter", "orderBy"}, argument.Name) {
			faults = append(faults, "the argument "+argument.Name+" belongs into the filter")
		}
	}
	filter, order := field.Arguments.ForName("filter"), field.Arguments.ForName("orderBy")
	if filter == nil || order == nil {
		return append(faults, "there is no filter or no orderBy")
	}
	conditions := schema.Types[filter.Type.Name()]
	for _, name := range []string{"and", "or", "not"} {
		if conditions.Fields.ForName(name) == nil {
			faults = append(faults, conditions.Name+" has no "+name)
		}
	}
	if prefix := strings.TrimSuffix(conditions.Name, "Filter"); order.Type.String() != "["+prefix+"Order!]" {
		faults = append(faults, "orderBy is "+order.Type.String())
	}
	// Who may not read a field must not find it by a filter either.
	node := schema.Types[schema.Types[field.Type.Name()].Fields.ForName("nodes").Type.Name()]
	for _, condition := range conditions.Fields {
		if shown := node.Fields.ForName(condition.Name); shown != nil {
			for _, permission := range guard.Permissions(shown.Directives) {
				if !slices.Contains(guard.Permissions(field.Directives), permission) {
					faults = append(faults, conditions.Name+"."+condition.Name+" finds what only "+permission+" shows")
				}
			}
		}
	}
	return faults
}
