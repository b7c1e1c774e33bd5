package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// layers are what each package may import of simgraph itself, tests aside.
// Imports point one way: the domain imports nobody, nobody imports main. What serves every noun
// may import all of domain/*.
var layers = map[string][]string{
	"domain/ascii":           {},
	"domain/query":           {"domain/ascii"},
	"domain/numbering":       {},
	"domain":                 {"domain/ascii", "domain/numbering", "domain/query"},
	"domain/inventory":       {"domain", "domain/carrier"},
	"domain/carrier":         {"domain", "domain/query", "domain/retention", "domain/webhook"},
	"domain/signin":          {"domain", "domain/ascii"},
	"domain/bulk":            {"domain", "domain/inventory", "domain/query"},
	"domain/webhook":         {"domain", "domain/ascii", "domain/query", "domain/retention"},
	"domain/condition":       {"domain", "domain/ascii", "domain/query"},
	"domain/silence":         {"domain", "domain/query"},
	"domain/document":        {"domain", "domain/ascii", "domain/query"},
	"domain/retention":       {"domain"},
	"domain/source":          {"domain", "domain/query"},
	"domain/report":          {"domain", "domain/ascii", "domain/dashboard", "domain/query"},
	"domain/dashboard":       {"domain", "domain/query"},
	"domain/note":            {"domain", "domain/query"},
	"domain/upstream":        {"domain", "domain/ascii", "domain/query", "domain/webhook"},
	"domain/gatewaytest":     {"domain"},
	"graph/scalar":           {"domain", "domain/query"},
	"graph/engine/guard":     {},
	"graph/engine/input":     {"domain/query"},
	"graph/model":            {"domain", "domain/*"},
	"graph/generated/input":  {"domain", "domain/*", "graph/model", "graph/scalar"},
	"graph/plan":             {},
	"graph/federation":       {},
	"graph/lists":            {"domain", "domain/*"},
	"graph/plan/generator":   {"domain/query", "graph/lists"},
	"graph/generated":        {"domain", "domain/*", "graph/generated/input", "graph/model", "graph/plan", "graph/scalar"},
	"graph/engine/transport": {"domain", "domain/ascii", "domain/document", "graph/engine/guard", "graph/engine/input", "graph/plan", "graph/scalar", "internal/held", "internal/problem"},
	"resolvers":              {"domain", "domain/*", "graph/engine/guard", "graph/federation", "graph/generated", "graph/generated/input", "graph/lists", "graph/model", "graph/plan", "graph/scalar"},
	"rest":                   {"domain", "domain/ascii", "domain/bulk", "domain/carrier", "domain/query", "domain/webhook", "graph/engine/guard", "graph/engine/input", "internal/held", "internal/problem"},
	"mcp":                    {"domain", "domain/ascii", "domain/bulk", "domain/document", "graph/engine/guard", "internal/flight", "internal/problem"},
	"scrape":                 {"domain", "domain/ascii", "internal/problem"},
	"export":                 {"domain", "domain/ascii", "graph/engine/input", "internal/problem"},
	"internal/problem":       {"domain"},
	"internal/flight":        {},
	"internal/held":          {},
	"internal/fatal":         {},
	"internal/access":        {"domain", "domain/ascii", "domain/signin", "internal/flight", "internal/problem"},
	"internal/signin":        {"domain", "domain/ascii", "domain/signin", "internal/access", "internal/issuer", "internal/problem", "internal/seal"},
	"internal/issuer":        {"domain"},
	"internal/issuertest":    {},
	"internal/limit":         {"domain"},
	"internal/replica":       {"domain", "graph/engine/transport"},
	"internal/telemetry":     {"domain", "domain/ascii", "graph/engine/transport"},
	"internal/httpd":         {"domain", "domain/ascii", "graph/engine/transport", "internal/access", "internal/limit", "internal/problem"},
	"internal/bundle":        {"domain", "domain/*"},
	"internal/stores":        {"db", "db/*", "domain/report", "internal/bundle", "resolvers"},
	"internal/demo":          {"internal/bundle", "domain", "domain/dashboard", "domain/note"},
	"internal/ingest":        {"internal/bundle", "internal/held", "domain", "domain/source", "internal/intake", "internal/problem", "internal/profile", "internal/retry"},
	"internal/changes":       {"domain", "domain/ascii", "domain/bulk", "domain/query", "internal/problem"},
	"internal/document":      {"domain", "domain/document", "internal/flight"},
	"internal/doctor":        {"db", "db/diagnosis", "db/embedded", "db/feed", "db/pg", "db/webhook", "domain", "domain/condition", "internal/seal"},
	"internal/durable":       {},
	"internal/report":        {"domain", "domain/ascii", "domain/report", "internal/pace"},
	"internal/mail":          {"domain", "domain/ascii", "domain/report", "domain/signin", "internal/durable", "internal/pace", "internal/report"},
	"internal/webhook":       {"domain", "domain/webhook"},
	"internal/pace":          {},
	"internal/retry":         {"domain"},
	"internal/upstream":      {"domain", "domain/ascii", "domain/upstream", "domain/webhook", "internal/retry", "internal/webhook"},
	"internal/radius":        {"domain", "domain/ascii"},
	"internal/seal":          {},
	"internal/profile":       {"domain", "domain/source"},
	"internal/intake":        {"domain", "domain/ascii", "domain/source", "internal/limit", "internal/problem", "internal/profile", "internal/retry"},
	"web":                    {"docs", "web/handbook"},
	"web/handbook":           {},
	"docs":                   {},
	"web/sources":            {},
	"web/pack":               {"web/sources"},
	"db/pg/stmtcache":        {},
	"db/pg":                  {"db/pg/stmtcache", "domain", "domain/ascii", "internal/flight"},
	"db/keyset":              {"db/pg", "domain", "domain/query"},
	"db/audit":               {"db/companies", "db/keyset", "db/pg", "domain", "domain/query", "domain/retention"},
	"db/retention":           {"db/audit", "db/companies", "db/pg", "domain", "domain/retention"},
	"db/companies":           {"db/pg", "domain"},
	"db/usage":               {"db/audit", "db/companies", "db/keyset", "db/pg", "db/retention", "domain", "domain/ascii", "domain/query", "domain/upstream", "internal/flight"},
	"db":                     {"db/audit", "db/pg", "domain"},
	"db/volume":              {"db/alert", "db/announce", "db/audit", "db/companies", "db/delivery", "db/group", "db/imported", "db/kept", "db/keyset", "db/pg", "db/silence", "db/usage", "db/webhook", "domain", "domain/condition", "domain/query"},
	"db/subscriber":          {"db/announce", "db/audit", "db/imported", "db/keyset", "db/pg", "db/upstream", "db/usage", "db/volume", "domain", "domain/query"},
	"db/group":               {"db/kept", "db/keyset", "db/pg", "domain", "domain/query"},
	"db/tag":                 {"db/announce", "db/audit", "db/keyset", "db/pg", "db/upstream", "domain", "domain/query"},
	"db/catalogue":           {"db/keyset", "db/pg", "domain", "domain/query"},
	"db/question":            {"db/imported", "db/kept", "db/keyset", "db/pg", "domain", "domain/query"},
	"db/mail":                {"db/audit", "db/companies", "db/credential", "db/delivery", "db/imported", "db/kept", "db/keyset", "db/pg", "db/usage", "db/volume", "domain", "domain/ascii", "domain/condition", "domain/query", "domain/retention", "domain/signin"},
	"db/backlog":             {"db/companies", "db/pg", "domain"},
	"db/bundle":              {"db/access", "db/alert", "db/announce", "db/audit", "db/catalogue", "db/companies", "db/dashboard", "db/imported", "db/note", "db/pg", "db/question", "db/report", "db/source", "db/subscriber", "db/upstream", "db/usage", "db/volume", "domain", "domain/ascii", "domain/dashboard", "domain/note", "domain/report", "domain/source"},
	"db/delivery":            {"db/keyset", "db/pg", "domain", "domain/query", "domain/webhook"},
	"db/source":              {"db/audit", "db/imported", "db/kept", "db/keyset", "db/pg", "domain", "domain/query", "domain/source", "internal/seal"},
	"db/document":            {"db/audit", "db/keyset", "db/pg", "domain", "domain/document", "domain/query"},
	"db/fieldusage":          {"db/companies", "db/keyset", "db/pg", "domain", "domain/query", "domain/retention"},
	"db/sqlrole":             {"db/audit", "db/companies", "db/pg", "domain"},
	"db/report":              {"db/access", "db/audit", "db/companies", "db/imported", "db/kept", "db/keyset", "db/pg", "domain", "domain/query", "domain/report"},
	"db/dashboard":           {"db/imported", "db/kept", "db/keyset", "db/pg", "domain", "domain/dashboard", "domain/query"},
	"db/note":                {"db/imported", "db/kept", "db/keyset", "db/pg", "domain", "domain/note", "domain/query"},
	"db/silence":             {"db/audit", "db/companies", "db/kept", "db/keyset", "db/pg", "domain", "domain/query", "domain/silence"},
	"db/alert":               {"db/keyset", "db/pg", "domain", "domain/condition", "domain/query"},
	"db/condition":           {"db/alert", "db/audit", "db/companies", "db/pg", "db/volume", "domain", "domain/condition"},
	"db/upstream":            {"db/announce", "db/audit", "db/companies", "db/kept", "db/keyset", "db/pg", "domain", "domain/query", "domain/upstream", "domain/webhook", "internal/seal"},
	"db/webhook":             {"db/audit", "db/companies", "db/kept", "db/keyset", "db/pg", "domain", "domain/condition", "domain/query", "domain/retention", "domain/webhook", "internal/seal"},
	"db/carrier":             {"db/audit", "db/companies", "db/keyset", "db/pg", "db/webhook", "domain", "domain/carrier", "domain/query", "domain/retention", "domain/webhook"},
	"db/feed":                {"db/audit", "db/companies", "db/keyset", "db/pg", "db/usage", "domain", "domain/query", "internal/flight", "internal/seal"},
	"db/inventory":           {"db/access", "db/audit", "db/carrier", "db/catalogue", "db/pg", "db/subscriber", "domain", "domain/inventory"},
	"db/credential":          {"domain"},
	"db/signin":              {"db/access", "db/audit", "db/companies", "db/credential", "db/pg", "domain", "domain/ascii", "domain/inventory", "domain/signin", "internal/seal"},
	"db/bulk":                {"db/announce", "db/audit", "db/carrier", "db/catalogue", "db/companies", "db/keyset", "db/pg", "db/silence", "db/subscriber", "db/tag", "db/volume", "db/webhook", "domain", "domain/bulk", "domain/query", "domain/retention", "domain/silence", "internal/pace"},
	"db/live":                {"db/alert", "db/announce", "db/bulk", "db/companies", "db/pg", "db/subscriber", "domain", "domain/bulk"},
	"db/diagnosis":           {"db/companies", "db/pg"},
	"db/restoring":           {"db/pg"},
	"db/cluster":             {"db/audit", "db/pg", "domain"},
	"db/access":              {"db/audit", "db/credential", "db/imported", "db/keyset", "db/pg", "domain", "domain/ascii", "domain/inventory", "domain/query"},
	"db/announce":            {"db/pg", "db/usage", "db/webhook", "domain"},
	"db/fleettest":           {"db/audit", "db/dbtest", "db/mail", "db/pg", "db/usage", "db/volume", "domain", "domain/query", "domain/retention", "internal/fatal"},
	"db/kept":                {"db/audit", "db/keyset", "db/pg", "domain"},
	"db/imported":            {"db/audit", "db/pg", "domain"},
	"db/embedded":            {},
	"db/dbtest":              {"db/embedded", "db/pg"},
	"db/dbtest/share":        {"db", "db/dbtest"},
}

// outermost may import everything.
var outermost = []string{".", "internal/command", "test/bench"}

func TestImportsPointOneWay(t *testing.T) {
	for folder, imports := range importsByPackage(t) {
		allowed, known := layers[folder]
		if slices.Contains(outermost, folder) || strings.Contains(folder, "/internal/") {
			continue
		}
		if !known {
			t.Errorf("the package %s has no place in the layers", folder)
		}
		for _, imported := range imports {
			if imported == "db" && strings.HasPrefix(folder, "db/") && !strings.HasPrefix(folder, "db/dbtest/") {
				t.Errorf("%s imports its parent, which makes the schema: put what it needs into a package of its own", folder)
			}
			if !slices.ContainsFunc(allowed, func(one string) bool { return covers(one, imported) }) && !strings.HasPrefix(imported, folder+"/internal/") {
				t.Errorf("%s must not import %s", folder, imported)
			}
		}
	}
}

// covers reports whether an entry of layers, which may end in /*, names a folder.
func covers(entry, folder string) bool {
	parent, all := strings.CutSuffix(entry, "*")
	return entry == folder || all && strings.HasPrefix(folder, parent)
}

// row is one of the table of folders: what it names, its text, and what its
// folders may import.
var row = regexp.MustCompile("(?m)^(\\| (`[^|]+`) \\|[^|]+\\|)[^|]*\\|$")

func TestTheArchitectureListsTheImports(t *testing.T) {
	const name = "docs/architecture.md"
	text, err := os.ReadFile(name)
	fatal.If(t, err)
	begin, rest, _ := strings.Cut(string(text), "## The folders\n")
	table, end, _ := strings.Cut(rest, "## ")
	listed := map[string]bool{}
	current := row.ReplaceAllStringFunc(table, func(line string) string {
		parts := row.FindStringSubmatch(line)
		folders := strings.Split(strings.ReplaceAll(parts[2], "`", ""), ", ")
		for _, folder := range folders {
			listed[folder] = true
		}
		return parts[1] + " " + importsOf(folders) + "|"
	})
	for folder := range layers {
		if !listed[folder] {
			t.Errorf("%s has no row for %s", name, folder)
		}
	}
	if current == table {
		return
	}
	if !*update {
		t.Fatalf("the imports in %s are not those of this file: go test . -run TheArchitecture -update", name)
	}
	rewrite(t, name, begin+"## The folders\n"+current+"## "+end)
}

// importsOf is what the folders of one row may import beside each other.
func importsOf(folders []string) string {
	var all []string
	for _, folder := range folders {
		if slices.Contains(outermost, folder) {
			return "everything "
		}
		all = append(all, layers[folder]...)
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(one string) bool { return slices.Contains(folders, one) })
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + " "
}

// importsByPackage reads the sources with the parser itself: the test cache
// sees the files that a test opens, and so cannot hide a violation. What is in
// testdata belongs to no package, as for the go command.
func importsByPackage(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "node_modules" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() && path == "clients" {
			return filepath.SkipDir // modules of their own
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		found[folder] = append(found[folder], ownImports(file.Imports)...)
		return nil
	})
	fatal.If(t, err)
	return found
}

func ownImports(specs []*ast.ImportSpec) []string {
	var own []string
	for _, spec := range specs {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
		if folder, isOwn := strings.CutPrefix(path, "simgraph/"); isOwn {
			own = append(own, folder)
		}
	}
	return own
}

// The page about a new noun names the files that the youngest of them has.
func TestTheFilesOfANounAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	const noun = "note"
	text, err := os.ReadFile("CONTRIBUTING.md")
	fatal.If(t, err)
	_, section, _ := strings.Cut(string(text), "## A new noun, step by step\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, found := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		named = append(named, found[1])
	}
	touched := []string{"graph/schema/" + noun + ".graphqls"}
	fatal.If(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "graph/generated/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		own := ownImports(file.Imports)
		if file.Name.Name == noun || slices.Contains(own, "domain/"+noun) || slices.Contains(own, "db/"+noun) {
			touched = append(touched, filepath.ToSlash(path))
		}
		return nil
	}))
	slices.Sort(named)
	slices.Sort(touched)
	if !slices.Equal(named, touched) {
		t.Errorf("the page names %q, not %q", named, touched)
	}
	if !strings.Contains(section, "has "+strconv.Itoa(len(named))+" files") {
		t.Errorf("the page does not say that there are %d files", len(named))
	}
}

// maxFiles bounds the files of a folder beside tests and what is generated: more are hard to survey.
const maxFiles = 40

func TestNoFolderHasTooManyFiles(t *testing.T) {
	t.Parallel()
	files := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".generated.go") {
			files[filepath.Dir(path)]++
		}
		return nil
	})
	fatal.If(t, err)
	for folder, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d files, more than %d", folder, n, maxFiles)
		}
	}
}
