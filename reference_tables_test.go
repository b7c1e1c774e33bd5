package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	graph "github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/tools/go/packages"

	"simgraph/graph/engine/guard"
	"simgraph/graph/generated"
	"simgraph/internal/fatal"
)

// derived checks that a document has a derived part between its marks, and writes it with
// -update.
func derived(t *testing.T, name, part, want string) {
	t.Helper()
	begin, end := "<!-- "+part+": written by go test -run TheManual -update . -->\n", "<!-- end of "+part+" -->"
	before, rest, begins := strings.Cut(manual(t, name), begin)
	listed, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for %s", name, part)
	}
	if *update {
		rewrite(t, name, before+begin+want+end+after)
		return
	}
	if listed != want {
		t.Errorf("%s of %s is not what the code says: run go test -run TheManual -update .", part, name)
	}
}

// limited are the packages whose exported constants Max… bound what people send or keep.
var limited = []string{"./domain/...", "./internal/bundle", "./internal/changes", "./internal/document", "./internal/profile"}

func TestTheManualListsTheLimits(t *testing.T) {
	t.Parallel()
	all, err := packages.Load(&packages.Config{
		Context: t.Context(), Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, limited...)
	fatal.If(t, err)
	var lines []string
	for _, pkg := range all {
		if len(pkg.Errors) > 0 {
			t.Fatal(pkg.Errors)
		}
		for _, file := range pkg.Syntax {
			ast.Inspect(file, func(node ast.Node) bool {
				declared, is := node.(*ast.GenDecl)
				if !is || declared.Tok != token.CONST {
					return true
				}
				for _, spec := range declared.Specs {
					value := spec.(*ast.ValueSpec)
					name := value.Names[0]
					if !strings.HasPrefix(name.Name, "Max") {
						continue
					}
					doc := value.Doc.Text()
					if !declared.Lparen.IsValid() {
						doc = declared.Doc.Text()
					}
					limit := pkg.TypesInfo.Defs[name].(*types.Const)
					lines = append(lines, fmt.Sprintf("| %s | %s | %s |\n", strings.Replace(pkg.Name, "domain", "general", 1), bounded(t, name.Name, doc), amount(limit)))
				}
				return false
			})
		}
	}
	slices.Sort(lines)
	derived(t, "docs/limits.md", "limits", "\n| of | limit | at most |\n|---|---|---|\n"+strings.Join(lines, "")+"\n")
}

// bounded is what a limit bounds: its comment without its name and verb.
func bounded(t *testing.T, name, doc string) string {
	t.Helper()
	first := strings.Join(strings.Fields(doc), " ")
	if at := strings.Index(first, ". "); at >= 0 {
		first = first[:at]
	}
	for _, verb := range []string{" bounds ", " is "} {
		if rest, is := strings.CutPrefix(first, name+verb); is {
			return strings.TrimSuffix(rest, ".")
		}
	}
	t.Errorf("the comment of %s does not say what it bounds: %q", name, doc)
	return ""
}

// amount is the value of a limit as people read it.
func amount(limit *types.Const) string {
	number, _ := constant.Int64Val(limit.Val())
	if limit.Type().String() == "time.Duration" {
		span := time.Duration(number)
		if days := span / (24 * time.Hour); days > 0 {
			if rest := span % (24 * time.Hour); rest > 0 {
				return fmt.Sprintf("%d days and %g h", days, rest.Hours())
			}
			return fmt.Sprintf("%d days", days)
		}
		return fmt.Sprintf("%g h", span.Hours())
	}
	digits := strconv.FormatInt(number, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// family is a metric that the telemetry declares.
type family struct {
	help   string
	labels []string
	kind   string
}

var kinds = map[string]string{
	"counter": "counter", "counters": "counter", "gauge": "gauge", "gauges": "gauge", "histogram": "histogram", "histograms": "histogram", "described": "gauge",
	"CounterOpts": "counter", "GaugeOpts": "gauge", "HistogramOpts": "histogram",
}

// declaredFamilies are the metrics of the telemetry by their names.
func declaredFamilies(t *testing.T) map[string]family {
	t.Helper()
	paths, err := filepath.Glob("internal/telemetry/*.go")
	fatal.If(t, err)
	all := map[string]family{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		fatal.If(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			if options, is := node.(*ast.CompositeLit); is {
				if name := fieldOf(options, "Name"); name != "" {
					all["simgraph_"+name] = family{help: fieldOf(options, "Help"), kind: kinds[selected(options.Type)]}
				}
				return true
			}
			call, is := node.(*ast.CallExpr)
			if !is || len(call.Args) < 2 {
				return true
			}
			name, arguments := calledName(call), call.Args
			if name == "NewDesc" {
				if inner, is := arguments[0].(*ast.CallExpr); is && len(inner.Args) == 3 {
					arguments, name = append([]ast.Expr{inner.Args[2]}, arguments[1:]...), "described"
				}
			}
			kind, known := kinds[name]
			if !known || text(arguments[0]) == "" {
				return true
			}
			of := family{help: text(arguments[1]), kind: kind}
			for _, argument := range arguments[2:] {
				if label := text(argument); label != "" {
					of.labels = append(of.labels, label)
				}
				if list, is := argument.(*ast.CompositeLit); is {
					for _, element := range list.Elts {
						of.labels = append(of.labels, text(element))
					}
				}
			}
			if strings.HasSuffix(text(arguments[0]), "_total") {
				of.kind = "counter"
			}
			all["simgraph_"+text(arguments[0])] = of
			return true
		})
	}
	return all
}

// fieldOf is the text of a field of a literal.
func fieldOf(of *ast.CompositeLit, name string) string {
	for _, element := range of.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is {
			if key, is := pair.Key.(*ast.Ident); is && key.Name == name {
				return text(pair.Value)
			}
		}
	}
	return ""
}

// seen are the alerts and panels that read each metric.
func seen(t *testing.T) (alerts, panels map[string][]string) {
	t.Helper()
	alerts, panels = map[string][]string{}, map[string][]string{}
	recorded := map[string]string{}
	add := func(to map[string][]string, expression, by string) {
		for name, of := range recorded {
			if strings.Contains(expression, name) {
				expression += " " + of
			}
		}
		for _, name := range metricName.FindAllString(expression, -1) {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, suffix)
			}
			if !slices.Contains(to[name], by) {
				to[name] = append(to[name], by)
			}
		}
	}
	rules := rulesOf(t, rulesFile)
	for _, r := range rules {
		if r.Record != "" {
			recorded[r.Record] = r.Expr
		}
	}
	for _, r := range rules {
		if r.Alert != "" {
			add(alerts, r.Expr, fmt.Sprintf("[%s](runbook.md#%s)", r.Alert, strings.ToLower(r.Alert)))
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	fatal.If(t, json.Unmarshal([]byte(manual(t, dashboardFile)), &dashboard))
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			add(panels, target.Expr, panel.Title)
		}
	}
	return alerts, panels
}

func TestTheManualListsTheMetrics(t *testing.T) {
	t.Parallel()
	all := declaredFamilies(t)
	for name := range families(t, "") {
		if _, is := all[name]; !is {
			t.Errorf("%s is declared in a way that the table does not read", name)
		}
	}
	alerts, panels := seen(t)
	var table strings.Builder
	table.WriteString("\n| metric | kind | labels | is | alerts | panels |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of := all[name]
		if of.help == "" {
			t.Errorf("%s says nothing of itself", name)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", name, of.kind, quoted(of.labels), strings.TrimSuffix(of.help, "."),
			strings.Join(alerts[name], ", "), strings.Join(panels[name], ", "))
	}
	derived(t, "docs/metrics.md", "metrics", table.String()+"\n")
}

var eventType = regexp.MustCompile(`^([a-z]+\.[a-z]+): (.*)$`)

func TestTheManualListsTheEvents(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	table := "\n## Sent to webhooks\n\n| event type | in the graph | when |\n|---|---|---|\n"
	for _, value := range schema.Types["WebhookEventType"].EnumValues {
		match := eventType.FindStringSubmatch(oneLine(value.Description))
		if match == nil {
			t.Fatalf("%s does not name its type: %q", value.Name, value.Description)
		}
		table += fmt.Sprintf("| `%s` | `%s` | %s |\n", match[1], value.Name, strings.TrimSuffix(match[2], "."))
	}
	table += "\n## Subscriptions\n\n| field | what it sends | arguments | permissions |\n|---|---|---|---|\n"
	for _, field := range schema.Subscription.Fields {
		table += fmt.Sprintf("| `%s: %s` | %s | %s | %s |\n", field.Name, field.Type.Name(), strings.TrimSuffix(oneLine(field.Description), "."), argumentsOf(field), needs(guard.Permissions(field.Directives)))
	}
	derived(t, "docs/events.md", "events", table+"\n")
}

func argumentsOf(field *graph.FieldDefinition) string {
	var all []string
	for _, argument := range field.Arguments {
		all = append(all, fmt.Sprintf("`%s: %s`. %s", argument.Name, argument.Type, oneLine(argument.Description)))
	}
	return strings.Join(all, " ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
