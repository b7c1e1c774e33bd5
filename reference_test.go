package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/coder/websocket"
	graph "github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/transport"
	"simgraph/graph/generated"
	"simgraph/internal/fatal"
	"simgraph/internal/problem"
	"simgraph/rest"
)

var (
	isCode = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	// errorRow is a line of the tables of docs/errors.md: code, status and whether to try again.
	errorRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| [^|]+ \\| [^|]+ \\| ([^|]+) \\|$")
	closeRow = regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]+)`")
)

// thrown are the errors that the code can answer with.
type thrown struct {
	// codes are those of the graph and the REST paths.
	codes map[string]bool
	// oauth has the statuses of each code of OAuth.
	oauth map[string]map[int]bool
	// closes are the codes and reasons with which WebSockets are closed.
	closes map[string]bool
}

// Each code that the code of the service has is explained, with its status, and no other.
func TestEveryErrorIsExplained(t *testing.T) {
	t.Parallel()
	found := thrown{map[string]bool{}, map[string]map[int]bool{}, map[string]bool{}}
	for _, path := range sources(t) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if strings.HasPrefix(folder, "clients") || strings.Contains(folder, "/internal/") {
			continue // a client, and a server for tests
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		fatal.If(t, err)
		found.read(t, folder, file)
	}
	want := map[string]string{}
	for code := range found.codes {
		want[code] = "200, 400"
		switch {
		case problem.Known(code):
			want[code] = strconv.Itoa(problem.Status(code))
		case code == transport.CodeSubscriptions:
			want[code] = "WebSocket"
		}
	}
	for code, statuses := range found.oauth {
		want[code] = strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Sorted(maps.Keys(statuses))), " ", ", "), "[]")
	}
	manual := manual(t, "docs/errors.md")
	got := map[string]string{}
	for _, row := range errorRow.FindAllStringSubmatch(manual, -1) {
		got[row[1]] = row[2]
		passes := problem.New(row[1], "", "").Wait > 0 || strings.Contains(row[2], "429")
		if passes != (row[3] == "after `Retry-After`") {
			t.Errorf("%s: whether it passes by itself is %v, and docs/errors.md says: %s", row[1], passes, row[3])
		}
	}
	compare(t, "docs/errors.md", got, want)
	closes := map[string]string{}
	for _, row := range closeRow.FindAllStringSubmatch(manual, -1) {
		closes[row[1]+" "+row[2]] = ""
	}
	wantCloses := map[string]string{}
	for code := range found.closes {
		wantCloses[code] = ""
	}
	compare(t, "the closes of docs/errors.md", closes, wantCloses)
}

func compare(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if listed, is := got[key]; !is || listed != value {
			t.Errorf("%s lacks %q with %q: it has %q", name, key, value, listed)
		}
	}
	for key := range got {
		if _, is := want[key]; !is {
			t.Errorf("%s has %q, which is gone", name, key)
		}
	}
}

// read finds the errors of a file. A code is a constant of the packages that declare codes,
// or a text where one is set.
func (f *thrown) read(t *testing.T, folder string, file *ast.File) {
	t.Helper()
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ValueSpec:
			kind, _ := node.Type.(*ast.Ident)
			for i, value := range node.Values {
				declares := folder == "internal/problem" || kind != nil && kind.Name == "ErrorKind" ||
					strings.HasPrefix(folder, "graph/engine/") && strings.HasPrefix(node.Names[i].Name, "Code")
				if declares {
					f.add(t, value)
				}
			}
		case *ast.CallExpr:
			switch name, arguments := calledName(node), node.Args; {
			case name == "coded" || name == "New" && qualifier(node.Fun) == "problem":
				f.add(t, arguments[0])
			case name == "Set" && qualifier(node.Fun) == "errcode":
				f.add(t, arguments[1])
			case name == "badRequest" && folder == "internal/access":
				f.addOAuth(arguments[0], http.StatusBadRequest)
			}
		case *ast.KeyValueExpr:
			if text(node.Key) == "code" {
				f.add(t, node.Value)
			}
		case *ast.CaseClause:
			for _, status := range node.List {
				eachLiteral(node, "oauthError", func(fields []ast.Expr) {
					if _, named := fields[0].(*ast.Ident); named {
						f.addOAuth(fields[1], statusOf(status))
					}
				})
			}
		}
		return true
	})
	eachLiteral(file, "oauthError", func(fields []ast.Expr) {
		if status := statusOf(fields[0]); status != 0 {
			f.addOAuth(fields[1], status)
		}
	})
	eachLiteral(file, "ending", func(fields []ast.Expr) {
		code := map[string]websocket.StatusCode{"StatusTryAgainLater": websocket.StatusTryAgainLater, "StatusGoingAway": websocket.StatusGoingAway}[selected(fields[0])]
		if number, is := fields[0].(*ast.BasicLit); is {
			n, err := strconv.Atoi(number.Value)
			fatal.If(t, err)
			code = websocket.StatusCode(n)
		}
		reason := fields[1]
		for {
			sum, is := reason.(*ast.BinaryExpr)
			if !is {
				break
			}
			reason = sum.X // the beginning
		}
		f.closes[fmt.Sprintf("%d %s", code, text(reason))] = true
	})
}

// add notes the code that a text or a constant of gqlgen is.
func (f *thrown) add(t *testing.T, value ast.Expr) {
	t.Helper()
	if qualifier(value) == "errcode" {
		code := map[string]string{"ParseFailed": errcode.ParseFailed, "ValidationFailed": errcode.ValidationFailed}[selected(value)]
		if code == "" {
			t.Errorf("errcode.%s is not known to this test", selected(value))
			return
		}
		f.codes[code] = true
	}
	if code := text(value); isCode.MatchString(code) {
		f.codes[code] = true
	}
}

// addOAuth fails the test for a code that is no text, by the row "" that the document lacks.
func (f *thrown) addOAuth(code ast.Expr, status int) {
	if name, is := code.(*ast.Ident); is && name.Name == "code" {
		return // the parameter of badRequest, whose calls are read
	}
	if f.oauth[text(code)] == nil {
		f.oauth[text(code)] = map[int]bool{}
	}
	f.oauth[text(code)][status] = true
}

// eachLiteral calls found with the values of each literal of the type.
func eachLiteral(within ast.Node, kind string, found func(fields []ast.Expr)) {
	ast.Inspect(within, func(node ast.Node) bool {
		literal, is := node.(*ast.CompositeLit)
		if !is {
			return true
		}
		if name, is := literal.Type.(*ast.Ident); is && name.Name == kind && len(literal.Elts) > 1 {
			found(literal.Elts)
		}
		return true
	})
}

func text(of ast.Expr) string {
	literal, is := of.(*ast.BasicLit)
	if !is || literal.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(literal.Value) // the parser has read it
	return text
}

func calledName(call *ast.CallExpr) string {
	if name, is := call.Fun.(*ast.Ident); is {
		return name.Name
	}
	return selected(call.Fun)
}

func selected(of ast.Expr) string {
	if selector, is := of.(*ast.SelectorExpr); is {
		return selector.Sel.Name
	}
	return ""
}

func qualifier(of ast.Expr) string {
	if selector, is := of.(*ast.SelectorExpr); is {
		if name, is := selector.X.(*ast.Ident); is {
			return name.Name
		}
	}
	return ""
}

// statusOf is the status that a constant of net/http names; 0 for none.
func statusOf(of ast.Expr) int {
	for status := 400; status < 600; status++ {
		if name := http.StatusText(status); name != "" && selected(of) == "Status"+strings.ReplaceAll(name, " ", "") {
			return status
		}
	}
	return 0
}

func TestTheManualListsThePermissions(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	derived(t, "docs/permissions.md", "permissions", permissionTable()+guardTables(schema)+pathTable(t, schema))
}

// permissionTable has each permission in both writings.
func permissionTable() string {
	lines := "\n## Each permission\n\n| permission | as a scope, and in the graph |\n|---|---|\n"
	for _, p := range domain.AllPermissions() {
		lines += fmt.Sprintf("| %s | `%s` |\n", p.Label(), p)
	}
	return lines
}

// guardTables have each field with a guard, and every root field.
func guardTables(schema *graph.Schema) string {
	roots := []string{"Query", "Mutation", "Subscription"}
	var objects, inputs []string
	for name, of := range schema.Types {
		switch {
		case slices.Contains(roots, name) || strings.HasPrefix(name, "__"):
		case of.Kind == graph.InputObject:
			inputs = append(inputs, name)
		case of.Kind == graph.Object || of.Kind == graph.Interface:
			objects = append(objects, name)
		}
	}
	slices.Sort(objects)
	slices.Sort(inputs)
	var all strings.Builder
	for _, section := range []struct {
		title string
		types []string
		all   bool
	}{
		{"Queries, mutations and subscriptions", roots, true},
		{"Fields of objects", objects, false},
		{"Fields of inputs", inputs, false},
	} {
		fmt.Fprintf(&all, "\n## %s\n\n| field | permissions |\n|---|---|\n", section.title)
		for _, name := range section.types {
			for _, field := range schema.Types[name].Fields {
				needed := guard.Permissions(field.Directives)
				if strings.HasPrefix(field.Name, "__") || len(needed) == 0 && !section.all {
					continue
				}
				fmt.Fprintf(&all, "| `%s.%s` | %s |\n", name, field.Name, needs(needed))
			}
		}
	}
	return all.String()
}

func needs(permissions []string) string {
	if len(permissions) == 0 {
		return "any caller"
	}
	return quoted(permissions)
}

// pathTable has each path of the contract that is served.
func pathTable(t *testing.T, schema *graph.Schema) string {
	t.Helper()
	handler, err := rest.New(rest.Config{Schema: schema, Prepare: func(string) (rest.Run, error) { return nil, nil }})
	fatal.If(t, err)
	w := httptest.NewRecorder()
	handler.ServeContract(w, httptest.NewRequest(http.MethodGet, "/", nil))
	var contract struct {
		Paths map[string]map[string]struct{ Security []map[string][]string }
	}
	fatal.If(t, json.Unmarshal(w.Body.Bytes(), &contract))
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(contract.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(contract.Paths[path])) {
			needed := "no token"
			for _, scheme := range contract.Paths[path][method].Security {
				if scopes, is := scheme["oauth"]; is {
					needed = needs(scopes)
				}
			}
			fmt.Fprintf(&lines, "| `%s %s` | %s |\n", ascii.Upper(method), path, needed)
		}
	}
	return "\n## REST paths\n\n| path | permissions |\n|---|---|\n" + lines.String() + "\n"
}
