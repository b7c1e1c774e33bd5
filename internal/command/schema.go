package command

import (
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/federation"
	"simgraph/resolvers"
)

// Schema groups the commands about the schema of the graph.
type Schema struct {
	Print SchemaPrint `cmd:"" default:"withargs" help:"Print the schema, or what changed since another (also without a command)."`
	Usage SchemaUsage `cmd:"" help:"Print what clients use of the schema."`
}

// SchemaPrint prints the schema of the graph, for clients or gateways, or how it differs from another.
type SchemaPrint struct {
	Federation bool `help:"Print it as a subgraph of Apollo Federation, to compose with others." xor:"kind"`

	Diff string `xor:"kind" type:"existingfile" placeholder:"FILE" help:"Print what changed since the schema in this file, and fail when it breaks clients."`

	Usage []string `type:"existingfile" sep:"none" placeholder:"FILE" help:"With --diff, fail only for what clients have used: a file of simgraph schema usage --json, or several."`
}

// Help shows examples.
func (SchemaPrint) Help() string {
	return `Examples:

	simgraph schema > schema.graphql
	simgraph schema --diff released.graphql
	simgraph schema --diff released.graphql --usage usage.json`
}

// Run prints the schema in SDL, that of a subgraph, or the changes, one a line.
func (c SchemaPrint) Run(env *Env) error {
	if c.Diff == "" {
		if len(c.Usage) > 0 {
			return domain.Invalid("usage", "--usage needs --diff")
		}
		text := printedSchema()
		if c.Federation {
			text = resolvers.SubgraphSDL()
		}
		_, err := io.WriteString(env.Stdout, text)
		return err
	}
	before, err := readSchema(c.Diff)
	if err != nil {
		return err
	}
	changes := diffSchemas(before, graphSchema())
	if len(c.Usage) > 0 {
		return c.judge(env, before, changes)
	}
	breaking := 0
	for _, change := range changes {
		if change.breaking {
			breaking++
		}
		if _, err := fmt.Fprintln(env.Stdout, change); err != nil {
			return err
		}
	}
	if breaking > 0 {
		return fmt.Errorf("%d changes break clients of %s", breaking, c.Diff)
	}
	return nil
}

// judge prints the changes, and fails for those that break what clients have used.
func (c SchemaPrint) judge(env *Env, before *ast.Schema, changes []schemaChange) error {
	all, since, err := readReports(c.Usage)
	if err != nil {
		return err
	}
	uses, breaking := newSchemaUses(before, all), 0
	for _, change := range changes {
		text := change.String()
		if change.breaking {
			affected, known := uses.affected(change)
			switch {
			case !known:
				breaking++
			case len(affected) > 0:
				breaking++
				text += ": used by " + usersOf(affected)
			default:
				text = "unused: " + change.at + " " + change.what
			}
		}
		if _, err := fmt.Fprintln(env.Stdout, text); err != nil {
			return err
		}
	}
	if breaking > 0 {
		return fmt.Errorf("%d changes break what clients of %s have used since %s", breaking, c.Diff, since)
	}
	env.printf("No change breaks what clients have used since %s.\n", since)
	return nil
}

func graphSchema() *ast.Schema { return resolvers.New(resolvers.Ports{}, nil).Schema().Schema() }

func printedSchema() string { return federation.Print(federation.ForClients(graphSchema())) }

func readSchema(path string) (*ast.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: path, Input: string(text)})
	if err != nil {
		return nil, fmt.Errorf("%s is no schema: %w", path, err)
	}
	delete(schema.Directives, "defer") // gqlparser adds it; the graph never had it
	return schema, nil
}

// Version prints the version.
type Version struct{}

// Run prints the version of the build.
func (Version) Run(env *Env) error {
	_, err := fmt.Fprintln(env.Stdout, "simgraph "+BuildVersion())
	return err
}

// version is that of a release: scripts/release.sh sets it.
var version string

// BuildVersion is the version of a release, else the module's version or the commit that it
// was built from.
func BuildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return "devel"
}

// schemaChange is a difference between two schemas.
type schemaChange struct {
	// at is the schema coordinate, such as Query.users or Query.users(first:).
	at       string
	what     string
	breaking bool
	// without is the interface, member or location that the type or directive at the
	// coordinate has no more, or "".
	without string
}

func (c schemaChange) String() string {
	if c.breaking {
		return "breaking: " + c.at + " " + c.what
	}
	return "safe: " + c.at + " " + c.what
}

// schemaDiff collects what changed, in the order of the coordinates.
type schemaDiff struct{ changes []schemaChange }

// diffSchemas returns what clients of the schema before notice of the one after.
// Breaking is what can make a valid document invalid, or an answer one that its
// generated types do not expect.
func diffSchemas(before, after *ast.Schema) []schemaChange {
	var d schemaDiff
	for _, name := range slices.Sorted(maps.Keys(before.Types)) {
		old, now := before.Types[name], after.Types[name]
		switch {
		case old.BuiltIn:
		case now == nil:
			d.add(true, name, "was removed")
		case old.Kind != now.Kind:
			d.add(true, name, "became another kind of type")
		default:
			d.definition(old, now)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.Types)) {
		if before.Types[name] == nil {
			d.add(false, name, "was added")
		}
	}
	d.directives(before.Directives, after.Directives)
	return d.changes
}

func (d *schemaDiff) add(breaking bool, at, what string) {
	d.changes = append(d.changes, schemaChange{at: at, what: what, breaking: breaking})
}

// without adds a break for each name that the type or directive had and has no more.
func without[T ~string](d *schemaDiff, at, what string, old, now []T) {
	for _, name := range old {
		if !slices.Contains(now, name) {
			d.changes = append(d.changes, schemaChange{at: at, what: fmt.Sprintf(what, name), breaking: true, without: string(name)})
		}
	}
}

func (d *schemaDiff) directives(before, after map[string]*ast.DirectiveDefinition) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		old, now, at := before[name], after[name], "@"+name
		if now == nil {
			d.add(true, at, "was removed")
			continue
		}
		d.arguments(at, old.Arguments, now.Arguments)
		without(d, at, "is not on %s any more", old.Locations, now.Locations)
		if old.IsRepeatable && !now.IsRepeatable {
			d.add(true, at, "is not repeatable any more")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == nil {
			d.add(false, "@"+name, "was added")
		}
	}
}

func (d *schemaDiff) definition(old, now *ast.Definition) {
	isInput := old.Kind == ast.InputObject
	for _, field := range old.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		at := old.Name + "." + field.Name
		if found := now.Fields.ForName(field.Name); found == nil {
			d.add(true, at, "was removed")
		} else {
			d.typed(at, field.Type, found.Type, isInput)
			d.defaults(at, field.DefaultValue, found.DefaultValue, found.Type)
			d.arguments(at, field.Arguments, found.Arguments)
		}
	}
	for _, field := range now.Fields {
		if old.Fields.ForName(field.Name) == nil {
			required := isInput && field.Type.NonNull && field.DefaultValue == nil
			d.add(required, old.Name+"."+field.Name, "was added")
		}
	}
	for _, value := range old.EnumValues {
		if now.EnumValues.ForName(value.Name) == nil {
			d.add(true, old.Name+"."+value.Name, "was removed")
		}
	}
	for _, value := range now.EnumValues {
		if old.EnumValues.ForName(value.Name) == nil {
			d.add(false, old.Name+"."+value.Name, "was added")
		}
	}
	without(d, old.Name, "is no %s any more", old.Interfaces, now.Interfaces)
	without(d, old.Name, "holds no %s any more", old.Types, now.Types)
	for _, name := range now.Types {
		if !slices.Contains(old.Types, name) {
			d.add(false, old.Name, "can hold a "+name)
		}
	}
	if old.Directives.ForName("oneOf") == nil && now.Directives.ForName("oneOf") != nil {
		d.add(true, old.Name, "takes exactly one field")
	}
}

func (d *schemaDiff) arguments(of string, old, now ast.ArgumentDefinitionList) {
	for _, argument := range old {
		at := of + "(" + argument.Name + ":)"
		if found := now.ForName(argument.Name); found == nil {
			d.add(true, at, "was removed")
		} else {
			d.typed(at, argument.Type, found.Type, true)
			d.defaults(at, argument.DefaultValue, found.DefaultValue, found.Type)
		}
	}
	for _, argument := range now {
		if old.ForName(argument.Name) == nil {
			d.add(argument.Type.NonNull && argument.DefaultValue == nil, of+"("+argument.Name+":)", "was added")
		}
	}
}

// defaults compares default values: what has none any more may have to be given.
func (d *schemaDiff) defaults(at string, old, now *ast.Value, t *ast.Type) {
	switch {
	case old == nil && now == nil || old != nil && now != nil && old.String() == now.String():
	case now == nil:
		d.add(t.NonNull, at, "has no default any more, which was "+old.String())
	case old == nil:
		d.add(false, at, "has the default "+now.String())
	default:
		d.add(false, at, "had the default "+old.String()+" and has "+now.String())
	}
}

// typed compares types: what is given may take more, what is answered may be less.
func (d *schemaDiff) typed(at string, old, now *ast.Type, given bool) {
	if old.String() == now.String() {
		return
	}
	fits := covers(old, now)
	if given {
		fits = covers(now, old)
	}
	d.add(!fits, at, "was "+old.String()+" and is "+now.String())
}

// covers reports whether every value of the narrow type is one of the wide type.
func covers(wide, narrow *ast.Type) bool {
	if wide.NonNull && !narrow.NonNull || (wide.Elem == nil) != (narrow.Elem == nil) {
		return false
	}
	if wide.Elem != nil {
		return covers(wide.Elem, narrow.Elem)
	}
	return wide.NamedType == narrow.NamedType
}
