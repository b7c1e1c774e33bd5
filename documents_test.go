package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/vektah/gqlparser/v2"

	"simgraph/graph/generated"
	"simgraph/internal/fatal"
	"simgraph/web/handbook"
)

// written is how documents write operations: as curl sends them, and as such.
var written = regexp.MustCompile("(?s)--data-urlencode 'query=(.*?)'\n|```graphql\n(.*?)```|-d '(\\{\"query\".*?\\})'\n")

func TestOperationsOfTheDocumentsAreValid(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, name := range []string{"README.md", "docs/graphql.md", "docs/webhooks.md", "docs/commands.md", "docs/sources.md", "docs/connectors.md"} {
		found := written.FindAllStringSubmatch(manual(t, name), -1)
		if len(found) == 0 {
			t.Errorf("%s has no operations", name)
		}
		for _, match := range found {
			body := struct{ Query string }{match[1] + match[2]}
			var err error
			if match[3] != "" {
				err = json.Unmarshal([]byte(match[3]), &body)
			}
			if err != nil {
				t.Errorf("%s: %v in %s", name, err, match[3])
			} else if _, errs := gqlparser.LoadQueryWithRules(schema, body.Query, nil); errs != nil {
				t.Errorf("%s: %v in %s", name, errs, body.Query)
			}
		}
	}
}

// namesType is how a document names types and fields of the graph.
var namesType = regexp.MustCompile(`^([A-Z][A-Za-z]+)(?:\.([a-z][A-Za-z]*))?$`)

// Who reads of an object of the graph finds what it is: each kind has an entry in the glossary,
// which names nothing that the schema has not.
func TestTheGlossaryKnowsEveryObject(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	explained := map[string]bool{}
	for _, match := range inCode.FindAllStringSubmatch(manual(t, "docs/glossary.md"), -1) {
		name := namesType.FindStringSubmatch(match[1])
		if name == nil {
			continue
		}
		explained[name[1]] = true
		if of := schema.Types[name[1]]; of == nil || name[2] != "" && of.Fields.ForName(name[2]) == nil {
			t.Errorf("the schema has no %s", match[1])
		}
	}
	for _, object := range schema.GetPossibleTypes(schema.Types["Node"]) {
		if !explained[object.Name] {
			t.Errorf("docs/glossary.md does not say what a %s is", object.Name)
		}
	}
}

// spelledOut is a term that is written in capitals, such as eUICC.
var spelledOut = regexp.MustCompile(`\w*[A-Z]{2,}\w*`)

// make prose holds the documents to the spelling of the glossary: the vocabulary has the terms
// that are explained there and have capitals.
func TestTheManualIsSpelledLikeTheGlossary(t *testing.T) {
	t.Parallel()
	const vocabulary = "styles/config/vocabularies/simgraph/accept.txt"
	terms := map[string]bool{}
	for line := range strings.Lines(manual(t, "docs/glossary.md")) {
		if row, is := strings.CutPrefix(line, "| "); is {
			entry, _, _ := strings.Cut(row, " | ")
			for _, term := range spelledOut.FindAllString(inCode.ReplaceAllString(entry, ""), -1) {
				terms[term] = true
			}
		}
	}
	if len(terms) < 5 {
		t.Fatalf("the glossary has few terms: %v", terms)
	}
	want := strings.Join(slices.Sorted(maps.Keys(terms)), "\n") + "\n"
	if *update {
		rewrite(t, vocabulary, want)
	}
	if got := manual(t, vocabulary); got != want {
		t.Errorf("%s is not what the glossary has: run go test -run TheManual -update .", vocabulary)
	}
}

// manual is the text of a document.
func manual(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	fatal.If(t, err)
	return string(text)
}

func documents(t *testing.T, patterns ...string) []string {
	t.Helper()
	var all []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		all = append(all, found...)
	}
	return all
}

// withdrawn are what decisions that were superseded, or builds, are about: it is not in
// the tree.
var withdrawn = []string{"db/rowtap", "web/generated"}

var (
	inCode   = regexp.MustCompile("`([^`\n]+)`")
	isPath   = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+/?$`)
	isGoTest = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w+$`)
)

// built returns what is built at the top of a working copy, by .gitignore: a clean clone
// does not have it.
func built(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for line := range strings.Lines(manual(t, ".gitignore")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
			all[path.Clean(line[1:])] = true
		}
	}
	if !all["simgraph"] {
		t.Fatalf(".gitignore leaves out %v: the server's program is not among it", all)
	}
	return all
}

// What a document names, a reader finds: files, folders and tests. Whether something has
// been built makes no difference.
func TestWhatDocumentsNameExists(t *testing.T) {
	t.Parallel()
	folders, tests := tree(t)
	builds := built(t)
	for _, name := range documents(t, "README.md", "CONTRIBUTING.md", "docs/*.md", "docs/decisions/*.md") {
		for _, match := range inCode.FindAllStringSubmatch(manual(t, name), -1) {
			named := match[1]
			if isGoTest.MatchString(named) && !tests[named] {
				t.Errorf("%s names %s, which is no test", name, named)
			}
			first, _, _ := strings.Cut(named, "/")
			if !isPath.MatchString(named) || !folders[first] || strings.Contains(named, "NOUN") || slices.Contains(withdrawn, named) || builds[path.Clean(named)] {
				continue
			}
			if _, err := os.Stat(named); err != nil {
				t.Errorf("%s names %s: %v", name, named, err)
			}
		}
	}
}

// tree returns the folders at the top, and the names of all tests.
func tree(t *testing.T) (folders, tests map[string]bool) {
	t.Helper()
	folders, tests = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" || strings.HasPrefix(path, ".git") {
				return filepath.SkipDir
			}
			if !strings.Contains(path, "/") {
				folders[path] = true
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok {
				tests[function.Name.Name] = true
			}
		}
		return nil
	})
	fatal.If(t, err)
	return folders, tests
}

// Decisions are numbered without gaps, and the list has all of them by their titles.
func TestDecisionsAreListed(t *testing.T) {
	t.Parallel()
	list := manual(t, "docs/decisions/README.md")
	for i, name := range documents(t, "docs/decisions/0*.md") {
		base := filepath.Base(name)
		if !strings.HasPrefix(base, fmt.Sprintf("%04d-", i+1)) {
			t.Errorf("%s is decision %d", base, i+1)
		}
		title, _, _ := strings.Cut(manual(t, name), "\n")
		if !strings.HasPrefix(title, fmt.Sprintf("# %d. ", i+1)) || !strings.Contains(list, fmt.Sprintf("| [%d](%s) |", i+1, base)) {
			t.Errorf("%s: %q is not listed in docs/decisions/README.md", base, title)
		}
	}
}

func TestTheManualOfTheGraphListsTheNodes(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	_, after, _ := strings.Cut(manual(t, "docs/graphql.md"), "is a `Node`, so caches keep one copy of it:")
	list, _, _ := strings.Cut(after, ".")
	var want, got []string
	for _, def := range schema.GetPossibleTypes(schema.Types["Node"]) {
		want = append(want, def.Name)
	}
	for _, match := range inCode.FindAllStringSubmatch(list, -1) {
		got = append(got, match[1])
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("docs/graphql.md lists %v, and the schema has %v", got, want)
	}
}

// The manual has the order of every connection that has one.
func TestTheManualOfTheGraphListsTheOrders(t *testing.T) {
	t.Parallel()
	derived(t, "docs/graphql.md", "orders", orderTable())
}

// orderTable has a line for each connection with an order, by its coordinate.
func orderTable() string {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	var lines []string
	for _, object := range schema.Types {
		for _, field := range object.Fields {
			order := field.Arguments.ForName("orderBy")
			if order == nil || !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			var values []string
			for _, value := range schema.Types[order.Type.Name()+"Field"].EnumValues {
				values = append(values, value.Name)
			}
			lines = append(lines, fmt.Sprintf("| `%s.%s` | %s | %s |\n", object.Name, field.Name, order.Description, quoted(values)))
		}
	}
	slices.Sort(lines)
	return "| connection | order | by |\n|---|---|---|\n" + strings.Join(lines, "")
}

var (
	// policies are the lists of an object, and their keys, in the cache of Apollo that docs/clients.md sets up.
	policies  = regexp.MustCompile(`(?s)\b([A-Z]\w+): \{\s*fields: \{(.*?)\}`)
	isPolicy  = regexp.MustCompile(`(\w+): list\b`)
	listKeys  = regexp.MustCompile(`relayStylePagination\(\[(.*?)\]\)`)
	isListKey = regexp.MustCompile(`'(\w+)'`)
)

func TestTheManualOfClientsListsTheConnections(t *testing.T) {
	t.Parallel()
	text := manual(t, "docs/clients.md")
	got, keys := map[string]bool{}, map[string]bool{}
	for _, object := range policies.FindAllStringSubmatch(text, -1) {
		for _, field := range isPolicy.FindAllStringSubmatch(object[2], -1) {
			got[object[1]+"."+field[1]] = true
		}
	}
	for _, key := range isListKey.FindAllStringSubmatch(listKeys.FindStringSubmatch(text)[1], -1) {
		keys[key[1]] = true
	}
	want, wantKeys := map[string]bool{}, map[string]bool{}
	for _, object := range generated.NewExecutableSchema(generated.Config{}).Schema().Types {
		for _, field := range object.Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			want[object.Name+"."+field.Name] = true
			for _, argument := range field.Arguments {
				if !slices.Contains([]string{"first", "after", "last", "before"}, argument.Name) {
					wantKeys[argument.Name] = true
				}
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("docs/clients.md lists\n%q, and the schema has\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	if !maps.Equal(keys, wantKeys) {
		t.Errorf("docs/clients.md has the keys\n%q, and the schema\n%q", slices.Sorted(maps.Keys(keys)), slices.Sorted(maps.Keys(wantKeys)))
	}
}

// endpointName is how code names an endpoint that is served.
var endpointName = regexp.MustCompile(`Name: "([a-z]+)", Endpoint:`)

func TestTheArchitectureShowsTheEndpoints(t *testing.T) {
	t.Parallel()
	_, after, _ := strings.Cut(manual(t, "docs/architecture.md"), "```")
	drawing, _, _ := strings.Cut(after, "```")
	found := 0
	for _, name := range documents(t, "internal/httpd/*.go", "internal/command/*.go") {
		for _, match := range endpointName.FindAllStringSubmatch(manual(t, name), -1) {
			found++
			if !regexp.MustCompile(`► ` + match[1] + `\b`).MatchString(drawing) {
				t.Errorf("the drawing in docs/architecture.md lacks the endpoint %s", match[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d endpoints were found", found)
	}
}

// rewrite replaces a document at once: tests beside read it.
func rewrite(t *testing.T, name, text string) {
	t.Helper()
	fatal.If(t, os.WriteFile(name+".new", []byte(text), 0o644))
	fatal.If(t, os.Rename(name+".new", name))
}

var (
	namesPicture = regexp.MustCompile(`!\[([^\]]+)\]\((pictures/[^)]+)\)`)
	// nameDrawn is how a picture marks what is to be found elsewhere.
	nameDrawn  = regexp.MustCompile(`<tspan class="name"[^>]*>([^<]+)</tspan>`)
	tableGrows = regexp.MustCompile("(?m)^\\| ((?:`\\w+`(?:, )?)+) \\|")
)

// A picture has a title and a description for those who cannot see it, and each table,
// metric, command, flag and field that it names exists.
func TestPicturesAreDescribedAndNameWhatExists(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	_, grows, _ := strings.Cut(manual(t, "docs/operations.md"), "\n### What grows\n") // a test holds it to the catalogue
	for _, row := range tableGrows.FindAllStringSubmatch(grows, -1) {
		for _, table := range inCode.FindAllStringSubmatch(row[1], -1) {
			known[table[1]] = true
		}
	}
	for name := range declaredFamilies(t) {
		known[name] = true
	}
	for _, of := range generated.NewExecutableSchema(generated.Config{}).Schema().Types {
		for _, field := range of.Fields {
			known[of.Name+"."+field.Name] = true
		}
	}
	addCommands(known, "simgraph", newModel(t).Model.Node)
	shown := map[string]bool{}
	for _, name := range documents(t, "docs/*.md") {
		for _, match := range namesPicture.FindAllStringSubmatch(manual(t, name), -1) {
			file := filepath.Join("docs", match[2])
			shown[file] = true
			svg := manual(t, file)
			if !regexp.MustCompile(`<title id="[^"]+">` + regexp.QuoteMeta(match[1]) + `</title>\n<desc id="[^"]+">[^<]{80,}</desc>`).MatchString(svg) {
				t.Errorf("%s shows %s, which is not described, or by another title", name, file)
			}
			names := nameDrawn.FindAllStringSubmatch(svg, -1)
			if len(names) == 0 {
				t.Errorf("%s names nothing", file)
			}
			for _, of := range names {
				if !known[of[1]] {
					t.Errorf("%s names %s, which is no table, metric, command, flag or field", file, of[1])
				}
			}
		}
	}
	for _, match := range regexp.MustCompile(`\((docs/screenshots/[^)]+)\)`).FindAllStringSubmatch(manual(t, "README.md"), -1) {
		shown[match[1]] = true
	}
	for _, file := range documents(t, "docs/pictures/*", "docs/screenshots/*") {
		if !shown[file] {
			t.Errorf("no document shows %s", file)
		}
	}
}

// addCommands adds the commands below a node, and their flags.
func addCommands(known map[string]bool, path string, node *kong.Node) {
	known[path] = true
	for _, flag := range node.Flags {
		known["--"+flag.Name] = true
	}
	for _, child := range node.Children {
		addCommands(known, path+" "+child.Name, child)
	}
}

var linksTo = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]+)?\)`)

// Links of the documents lead to files that are there, and to headings of the handbook. What
// they have in code is no link.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	book, err := handbook.Read(os.DirFS("docs"))
	fatal.If(t, err)
	headings := map[string]bool{}
	for name, page := range book.Pages {
		for _, section := range page.Sections {
			_, anchor, _ := strings.Cut(section.Address, "#")
			headings[filepath.Join("docs", name+".md")+"#"+anchor] = true
		}
	}
	fenced := regexp.MustCompile("(?s)```.*?```")
	followed := 0
	for _, name := range documents(t, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "docs/decisions/*.md") {
		text := inCode.ReplaceAllString(fenced.ReplaceAllString(manual(t, name), ""), "")
		for _, link := range linksTo.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			followed++
			to := name
			if link[1] != "" {
				to = filepath.Join(filepath.Dir(name), link[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s has a link to %s: %v", name, link[1], err)
			}
			if strings.HasPrefix(to, "docs/") && link[2] != "" && !headings[to+link[2]] {
				t.Errorf("%s has a link to %s, which has no heading %s", name, to, link[2])
			}
		}
	}
	if followed < 500 {
		t.Errorf("only %d links were found", followed)
	}
}
