package db_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// otherColumns are the fields of lists whose SQL does not have their name.
var otherColumns = map[string]string{
	"access/keys.go userEmail":         `"u.email"`,
	"access/users.go isDisabled":       `"u.disabled"`,
	"alert/alerts.go createdAt":        `"a.date_created"`,
	"alert/log.go createdAt":           `"l.date_created"`,
	"bulk/store.go startedBy":          `"o.actor"`,
	"document/store.go isTool":         `"(d.tool_name <> '')"`,
	"feed/sessions.go isIncomplete":    `"n.decreased"`,
	"feed/sessions.go isOpen":          `"(n.ended_at IS NULL)"`,
	"feed/sessions.go total":           `"(n.mobile_originated + n.mobile_terminated)"`,
	"feed/state.go completeUntil":      `completeUntil`,
	"feed/state.go lagSeconds":         `lagSeconds`,
	"fieldusage/list.go day":           `dayOfUses`,
	"group/store.go isTariffHidden":    `"g.hide_tariff_details"`,
	"silence/store.go isEnded":         `"(n.ends_at <= $2)"`,
	"source/store.go isReplayable":     `"r.is_record"`,
	"source/store.go profileName":      `"s.profile"`,
	"source/store.go sourceName":       `"s.name"`,
	"upstream/store.go sourceName":     `"u.source"`,
	"volume/alerts.go id":              `"a.alert_id"`,
	"volume/alerts.go lowerThreshold":  `"lower.threshold"`,
	"volume/alerts.go target":          `alert.Target`,
	"volume/alerts.go upperThreshold":  `"upper.threshold"`,
	"volume/log.go isLate":             `"l.late"`,
	"webhook/deliveries.go deliveryId": `"m.message_id"`,
}

var capitals = regexp.MustCompile(`[A-Z]+`)

// A list is filtered and ordered by the column that has the name of the field, so that no
// field stands for another one.
func TestAFieldOfAListIsTheColumnOfItsName(t *testing.T) {
	t.Parallel()
	found, others := 0, map[string]bool{}
	for _, path := range sourcesOfStores(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		fatal.If(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			field, sql := columnOf(node)
			if field == "" {
				return true
			}
			found++
			snake := capitals.ReplaceAllStringFunc(field, func(s string) string { return "_" + strings.ToLower(s) })
			if regexp.MustCompile(`["(. ]` + snake + `["), ]`).MatchString(sql) {
				return true
			}
			name := filepath.ToSlash(path) + " " + field
			if others[name] = true; otherColumns[name] != sql {
				t.Errorf("%s is %s, and listed as %q", name, sql, otherColumns[name])
			}
			return true
		})
	}
	for name := range otherColumns {
		if !others[name] {
			t.Errorf("%s has the name of its column, or is gone, and need not be listed", name)
		}
	}
	if found < 200 {
		t.Errorf("only %d fields were found", found)
	}
}

// columnOf returns a field of a list and its SQL as they are written; "" for other code.
func columnOf(node ast.Node) (field, sql string) {
	entry, is := node.(*ast.KeyValueExpr)
	if !is {
		return "", ""
	}
	key, isText := entry.Key.(*ast.BasicLit)
	column, isColumn := entry.Value.(*ast.CompositeLit)
	if !isText || !isColumn || len(column.Elts) == 0 {
		return "", ""
	}
	first, is := column.Elts[0].(*ast.KeyValueExpr)
	if !is || types.ExprString(first.Key) != "SQL" {
		return "", ""
	}
	return strings.Trim(key.Value, `"`), strings.ReplaceAll(types.ExprString(first.Value), "`", `"`)
}
