package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/companies"
	"simgraph/db/fieldusage"
	"simgraph/domain"
)

// SchemaUsage prints what clients use of the schema.
type SchemaUsage struct {
	Since   string `default:"30d" help:"Since when: a number of days such as 30d, or a day such as 2026-11-01."`
	Client  string `help:"Only what this client uses."`
	Company string `placeholder:"ID" help:"The company; all when left out."`
	Unused  bool   `xor:"as" help:"Print what no client uses."`
	JSON    bool   `xor:"as" name:"json" help:"Print JSON, for simgraph schema --usage."`
}

// Help shows examples.
func (SchemaUsage) Help() string {
	return `Examples:

	simgraph schema usage --since 90d
	simgraph schema usage --unused
	simgraph schema usage --json > usage.json
	simgraph schema --diff released.graphql --usage usage.json

A value of an enum counts as used when a field is used that can answer it. Counts
are stored every 5 s, and kept as long as simgraph retention status says.`
}

// fieldReport is what clients have used in a time.
type fieldReport struct {
	// Since is the day that was asked for, FirstDay the first with a use since then.
	Since    string     `json:"since"`
	FirstDay string     `json:"firstDay"`
	Until    string     `json:"until"`
	Uses     []fieldUse `json:"uses"`
}

// fieldUse is how often operations of a client used a coordinate.
type fieldUse struct {
	Coordinate string `json:"coordinate"`
	Client     string `json:"client"`
	Version    string `json:"version,omitempty"`
	Operation  string `json:"operation,omitempty"`
	Uses       int64  `json:"uses"`
	FirstDay   string `json:"firstDay"`
	LastDay    string `json:"lastDay"`
}

// Run prints a line for each use, JSON, or what is not used.
func (c *SchemaUsage) Run(ctx context.Context, env *Env) error {
	now := time.Now()
	since, err := sinceOf(c.Since, now)
	if err != nil {
		return err
	}
	report := &fieldReport{Since: day(since), Until: day(now), Uses: []fieldUse{}}
	if err := c.read(ctx, env, since, report); err != nil {
		return err
	}
	switch {
	case c.JSON:
		out := json.NewEncoder(env.Stdout)
		out.SetIndent("", " ")
		return out.Encode(report)
	case c.Unused:
		schema := graphSchema()
		for _, at := range newSchemaUses(schema, report.Uses).unused() {
			env.printf("%s\n", at)
		}
		return nil
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COORDINATE\tCLIENT\tVERSION\tOPERATION\tUSES\tFIRST\tLAST")
	for _, u := range report.Uses {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", u.Coordinate, u.Client, cmp.Or(u.Version, "-"), cmp.Or(u.Operation, "-"), u.Uses, u.FirstDay, u.LastDay)
	}
	return table.Flush()
}

// sinceOf reads a number of days before now, or a day.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		if days, err := strconv.ParseUint(number, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(days)), nil
		}
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return at, domain.Invalid("since", "--since is a number of days such as 30d, or a day such as 2026-11-01, not %.100q", text)
	}
	return at, nil
}

// read adds up the uses of the companies.
func (c *SchemaUsage) read(ctx context.Context, env *Env, since time.Time, report *fieldReport) error {
	pool, done, err := env.Open(ctx, "schema usage")
	if err != nil {
		return err
	}
	defer done()
	all, err := companiesNamed(ctx, companies.New(pool), c.Company)
	if err != nil {
		return err
	}
	type key struct{ coordinate, client, version, operation string }
	found, store := map[key]*fieldUse{}, fieldusage.New(pool, fieldusage.Options{})
	for _, company := range all {
		err := store.Each(ctx, company.CompanyID, since, c.Client, func(u domain.FieldUse) error {
			of := key{u.Coordinate, u.Client, u.Version, u.Operation}
			first, last := day(u.FirstDay), day(u.LastDay)
			sum := found[of]
			if sum == nil {
				sum = &fieldUse{Coordinate: u.Coordinate, Client: u.Client, Version: u.Version, Operation: u.Operation, FirstDay: first, LastDay: last}
				found[of] = sum
			}
			sum.Uses += u.Uses
			sum.FirstDay, sum.LastDay = min(sum.FirstDay, first), max(sum.LastDay, last)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, u := range found {
		report.Uses = append(report.Uses, *u)
		if report.FirstDay == "" || u.FirstDay < report.FirstDay {
			report.FirstDay = u.FirstDay
		}
	}
	slices.SortFunc(report.Uses, func(a, b fieldUse) int {
		return cmp.Or(cmp.Compare(a.Coordinate, b.Coordinate), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Operation, b.Operation))
	})
	return nil
}

// readReports reads files of schema usage --json.
func readReports(paths []string) (all []fieldUse, since string, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		var report fieldReport
		if err := json.Unmarshal(data, &report); err != nil {
			return nil, "", fmt.Errorf("%s is not what simgraph schema usage --json prints: %w", path, err)
		}
		if len(report.Uses) == 0 {
			return nil, "", fmt.Errorf("%s has no uses: nothing is known of what clients use", path)
		}
		all, since = append(all, report.Uses...), max(since, report.Since, report.FirstDay)
	}
	return all, since, nil
}

// schemaUses are uses of a schema.
type schemaUses struct {
	schema *ast.Schema
	// at are the uses by coordinates, typed those of coordinates by their types.
	at, typed map[string][]fieldUse
}

// newSchemaUses reads uses. A field of an interface is used of each type that has it.
func newSchemaUses(schema *ast.Schema, all []fieldUse) *schemaUses {
	u := &schemaUses{schema: schema, at: map[string][]fieldUse{}, typed: map[string][]fieldUse{}}
	for _, use := range all {
		u.at[use.Coordinate] = append(u.at[use.Coordinate], use)
		owner, member, isMember := strings.Cut(use.Coordinate, ".")
		if of := schema.Types[owner]; isMember && of != nil && of.Kind == ast.Interface {
			for _, possible := range schema.GetPossibleTypes(of) {
				at := possible.Name + "." + member
				u.at[at] = append(u.at[at], use)
			}
		}
		if of := u.typeAt(use.Coordinate); of != nil {
			u.typed[of.Name()] = append(u.typed[of.Name()], use)
		}
	}
	return u
}

// typeAt is that of the field, argument or input field at a coordinate; nil for others.
func (u *schemaUses) typeAt(coordinate string) *ast.Type {
	path, argument, isArgument := strings.Cut(strings.TrimSuffix(coordinate, ":)"), "(")
	owner, member, _ := strings.Cut(path, ".")
	of := u.schema.Types[owner]
	if of == nil {
		return nil
	}
	field := of.Fields.ForName(member)
	switch {
	case field == nil:
		return nil
	case !isArgument:
		return field.Type
	}
	if of := field.Arguments.ForName(argument); of != nil {
		return of.Type
	}
	return nil
}

// answered are the uses of fields that can answer the values of a type.
func (u *schemaUses) answered(name string) (all []fieldUse) {
	for _, use := range u.typed[name] {
		path, _, isArgument := strings.Cut(use.Coordinate, "(")
		owner, _, _ := strings.Cut(path, ".")
		if !isArgument && u.schema.Types[owner].Kind != ast.InputObject {
			all = append(all, use)
		}
	}
	return all
}

// touching are the uses of a type: by its name, its members, or what has values of it.
func (u *schemaUses) touching(name string) []fieldUse {
	all := slices.Concat(u.at[name], u.typed[name])
	for at, uses := range u.at {
		if strings.HasPrefix(at, name+".") {
			all = append(all, uses...)
		}
	}
	return all
}

// affected are the uses that a breaking change can break. Of a directive nothing is known.
func (u *schemaUses) affected(change schemaChange) (uses []fieldUse, known bool) {
	if strings.HasPrefix(change.at, "@") {
		return nil, false
	}
	owner, member, isMember := strings.Cut(change.at, ".")
	field, _, isArgument := strings.Cut(change.at, "(")
	of := u.schema.Types[owner]
	switch {
	case !isMember:
		return u.touching(owner), true
	case of.Kind == ast.Enum && of.EnumValues.ForName(member) != nil:
		return slices.Concat(u.at[change.at], u.answered(owner)), true
	case u.typeAt(change.at) != nil:
		return u.at[change.at], true
	case isArgument: // a new one that is required
		return u.at[field], true
	}
	return u.touching(owner), true // a new input field that is required
}

// unused are the coordinates that no use is of, in order.
func (u *schemaUses) unused() (all []string) {
	add := func(at string, used bool) {
		if !used && len(u.at[at]) == 0 {
			all = append(all, at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.schema.Types)) {
		of := u.schema.Types[name]
		if of.BuiltIn || strings.HasPrefix(name, "_") {
			continue
		}
		for _, field := range of.Fields {
			if strings.HasPrefix(field.Name, "_") {
				continue
			}
			at := name + "." + field.Name
			add(at, false)
			for _, argument := range field.Arguments {
				add(at+"("+argument.Name+":)", false)
			}
		}
		answered := of.Kind == ast.Enum && len(u.answered(name)) > 0
		for _, value := range of.EnumValues {
			add(name+"."+value.Name, answered)
		}
	}
	return all
}

// maxUsers is how many clients are named that use something.
const maxUsers = 10

// usersOf names the clients of uses with the last days on which they were seen.
func usersOf(uses []fieldUse) string {
	last := map[string]string{}
	for _, u := range uses {
		name := strings.TrimSpace(u.Client + " " + u.Version)
		last[name] = max(last[name], u.LastDay)
	}
	names := slices.Sorted(maps.Keys(last))
	var texts []string
	for _, name := range names[:min(len(names), maxUsers)] {
		texts = append(texts, fmt.Sprintf("%s (last on %s)", name, last[name]))
	}
	if more := len(names) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}
