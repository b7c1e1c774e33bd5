package scaleout

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/generated"
)

// derived makes operations of every mutation, and reads of every list, from the schema, so
// that none is forgotten.
type derived struct {
	schema *ast.Schema
	// named are the names that inputs and answers share, as alertId, and as tariffName for the
	// name of a Tariff.
	named map[string]bool
}

func newDerived() derived {
	d := derived{generated.NewExecutableSchema(generated.Config{}).Schema(), map[string]bool{}}
	for _, def := range d.schema.Types {
		if def.Kind != ast.InputObject {
			continue
		}
		for _, field := range def.Fields {
			if identifying.MatchString(field.Name) || field.Name == "name" {
				d.named[d.nameIn(def, field.Name)] = true
			}
		}
	}
	return d
}

// identifying are the fields of inputs by which a thing is found.
var identifying = regexp.MustCompile(`^([a-z]+(Id|Name|Code|Email))$`)

// edits are the inputs that change what is there.
var edits = regexp.MustCompile(`^(?:Edit|Move|Set)[A-Z]\w*Input$`)

var noun = regexp.MustCompile(`^(?:Create|Edit|Delete)([A-Z]\w*)Input$`)

// nameIn is what an identifier is kept by: a name alone is that of the type in the name of
// the input.
func (d derived) nameIn(def *ast.Definition, field string) string {
	if of := noun.FindStringSubmatch(def.Name); field == "name" && of != nil && d.schema.Types[of[1]] != nil {
		return member(of[1], field)
	}
	return field
}

// member is the name of a field of a type in inputs.
func member(of, field string) string {
	return strings.ToLower(of[:1]) + of[1:] + strings.ToUpper(field[:1]) + field[1:]
}

// made begins what the answers to derived operations are kept by: what the others made is not
// theirs to delete.
const made = "made_"

// timed are fields that have the clock of either side, and the hash over what either side made up.
const timed = `since|last.*|nextAttemptAt|finishedAt|failingSince|failedAt|dueAt|endedAt|payload|progress|pausedUntil|dataCompleteUntil|networkState|invitation|sessions|hash`

// working are those of answers, too, that work in the background goes on to change.
var (
	timing  = regexp.MustCompile(`^(` + timed + `)$`)
	working = regexp.MustCompile(`^(` + timed + `|state|status|numberFired|attempts|done|changed|failed|skipped|disabled.*|counts|writes)$`)
)

// apart are lists that have entries of work in the background among others; twinReads read
// the others.
var apart = []string{"alertLog", "deliveries", "webhookDeliveries", "auditLog", "commands"}

// selection selects the fields of a type that need no argument, but those without, and objects so
// many levels down.
func (d derived) selection(name string, without *regexp.Regexp, levels int) string {
	def := d.schema.Types[name]
	if def.Kind == ast.Union {
		return "{ __typename }"
	}
	fields := []string{"__typename"}
	for _, field := range def.Fields {
		below := d.schema.Types[field.Type.Name()]
		switch {
		case strings.HasPrefix(field.Name, "__") || len(field.Arguments) > 0 || without.MatchString(field.Name):
		case !below.IsCompositeType():
			fields = append(fields, field.Name)
			if kept := member(name, field.Name); d.named[kept] && field.Name != "id" {
				fields = append(fields, made+kept+": "+field.Name)
			}
			// What is the name of another type may be of something that is gone.
			if d.named[field.Name] && !d.isOfAnother(field.Name) {
				fields = append(fields, made+field.Name+": "+field.Name)
			}
		case levels > 1 && !strings.HasSuffix(below.Name, "Connection"):
			fields = append(fields, field.Name+" "+d.selection(below.Name, without, levels-1))
		}
	}
	return "{ " + strings.Join(fields, " ") + " }"
}

// isOfAnother reports whether a name is that of a type with a field, such as sourceName.
func (d derived) isOfAnother(name string) bool {
	for _, def := range d.schema.Types {
		if def.Kind == ast.Object && slices.ContainsFunc(def.Fields, func(f *ast.FieldDefinition) bool { return f.Name != "id" && member(def.Name, f.Name) == name }) {
			return true
		}
	}
	return false
}

// identifiers are the names that answers are kept by.
func (d derived) identifiers() (names []string) {
	for name := range d.named {
		names = append(names, made+name)
	}
	return names
}

// mutations are those of the schema: what makes things first, twice, and what removes them last.
func (d derived) mutations() (all ast.FieldList) {
	for _, begin := range []string{"create|set", "create|set", "", "delete"} {
		for _, field := range d.schema.Mutation.Fields {
			turn := regexp.MustCompile("^(create|set|delete)").FindString(field.Name)
			if !strings.HasPrefix(field.Name, "__") && (turn == begin || turn != "" && strings.Contains(begin, turn)) {
				all = append(all, field)
			}
		}
	}
	return all
}

// of is a mutation with a random input, which is the same for both sides but for what
// they have named.
func (d derived) of(random *rand.Rand, mutation *ast.FieldDefinition, turn, n int) operation {
	kind, seed := mutation.Arguments.ForName("input").Type.Name(), random.Uint64()
	text := fmt.Sprintf(`mutation M($input: %s!) { %s(input: $input) %s }`, kind, mutation.Name, d.selection(mutation.Type.Name(), working, 3))
	keep := d.identifiers()
	if d.schema.Types[mutation.Type.Name()].Fields.ForName("operation") != nil {
		keep = append(keep, "operationId")
	}
	return operation{name: mutation.Name, keep: keep, of: func(side *twin) request {
		in := inputs{d, rand.New(rand.NewPCG(seed, 0)), side, n, turn < len(d.mutations())}
		return document(text, map[string]any{"input": in.object(d.schema.Types[kind])})
	}}
}

// lists read the first of every list of the company.
func (d derived) lists() (queries []string) {
	for _, field := range d.schema.Query.Fields {
		if nodes := d.schema.Types[field.Type.Name()].Fields.ForName("nodes"); nodes != nil && field.Arguments.ForName("first") != nil && !slices.Contains(apart, field.Name) {
			queries = append(queries, fmt.Sprintf(`{ %s(first: 100) { totalCount nodes %s } }`, field.Name, d.selection(nodes.Type.Name(), timing, 2)))
		}
	}
	return queries
}

// inputs makes the input of one side.
type inputs struct {
	derived
	random *rand.Rand
	side   *twin
	n      int
	// isPlain has what must be given alone, and one field more where something is edited.
	isPlain bool
}

// needed are fields without which the service refuses an input, although they are nullable.
var needed = []string{"CreateReportInput.questionId", "MoveSubscriberInput.groupId"}

func (in inputs) object(def *ast.Definition) map[string]any {
	made := map[string]any{}
	if def.Directives.ForName("oneOf") != nil {
		field := def.Fields[in.random.IntN(len(def.Fields))]
		return map[string]any{field.Name: in.value(def, field, field.Type)}
	}
	// A scope is of everything or of some things.
	if strings.HasSuffix(def.Name, "ScopeInput") {
		return map[string]any{"all": true}
	}
	must := func(field *ast.FieldDefinition) bool {
		return field.Type.NonNull && field.DefaultValue == nil || field.Name == "url" || slices.Contains(needed, def.Name+"."+field.Name)
	}
	others := slices.DeleteFunc(slices.Clone(def.Fields), func(field *ast.FieldDefinition) bool { return must(field) || field.Name == "expectedVersion" })
	var one *ast.FieldDefinition
	if len(others) > 0 && edits.MatchString(def.Name) {
		one = others[in.random.IntN(len(others))]
	}
	for _, field := range def.Fields {
		if must(field) || field == one || !in.isPlain && in.random.IntN(4) == 0 {
			made[field.Name] = in.value(def, field, field.Type)
		}
	}
	return made
}

func (in inputs) value(def *ast.Definition, field *ast.FieldDefinition, of *ast.Type) any {
	if of.Elem != nil {
		values := []any{}
		for range 1 + in.random.IntN(2) {
			if value := in.value(def, field, of.Elem); !slices.ContainsFunc(values, func(other any) bool { return fmt.Sprint(other) == fmt.Sprint(value) }) {
				values = append(values, value)
			}
		}
		return values
	}
	which, at := in.random.Int(), time.Duration(1+in.random.IntN(20))*time.Hour
	inner := in.schema.Types[of.NamedType]
	switch name := in.nameIn(def, field.Name); {
	case inner.Kind == ast.Enum && in.isPlain && field.Type.Elem == nil:
		return inner.EnumValues[0].Name
	case inner.Kind == ast.Enum:
		return inner.EnumValues[which%len(inner.EnumValues)].Name
	case inner.Kind == ast.InputObject:
		return in.object(inner)
	case of.NamedType == "Boolean":
		return which%4 > 0 || field.Name == "all"
	case of.NamedType == "DateTime":
		if future.MatchString(field.Name) {
			at = -at
		}
		return time.Now().Add(-at).UTC().Truncate(time.Hour).Format(time.RFC3339)
	case in.isKept(def, name):
		name = made + strings.TrimSuffix(name, "s")
		if strings.HasPrefix(def.Name, "Delete") || which%2 == 0 && !strings.HasPrefix(def.Name, "Move") { // what nothing uses or removed yet
			which = len(in.side.kept[name]) - 1
		}
		if of.NamedType == "Int" {
			return in.side.number(name, which)
		}
		return in.side.pick(name, which)
	case of.NamedType == "BigInt":
		if strings.HasPrefix(field.Name, "upper") {
			return "900000000000000"
		}
		return fmt.Sprint(1 + which%1_000_000)
	case of.NamedType == "Int":
		return 1 + which%6
	}
	return in.text(field.Name, which)
}

var future = regexp.MustCompile(`(?i)(ends?At|expiryDate|terminateDate)$`)

// isKept reports whether a field names something that is there; what an input creates has a
// new name.
func (in inputs) isKept(def *ast.Definition, name string) bool {
	name = strings.TrimSuffix(name, "s")
	of := noun.FindStringSubmatch(def.Name)
	return in.named[name] && len(in.side.kept[made+name]) > 0 &&
		(of == nil || !strings.HasPrefix(def.Name, "Create") || slices.ContainsFunc(in.keysOf(name), func(key string) bool { return key != of[1] }))
}

// keysOf are the types that are found by a name.
func (d derived) keysOf(name string) (types []string) {
	for _, def := range d.schema.Types {
		of, is := strings.CutSuffix(def.Name, "Key")
		if is && def.Kind == ast.InputObject && slices.ContainsFunc(def.Fields, func(f *ast.FieldDefinition) bool { return f.Name == name || member(of, f.Name) == name }) {
			types = append(types, of)
		}
	}
	return types
}

// text is a value for a field of text, or a part of a thing.
func (in inputs) text(field string, which int) string {
	switch field {
	case "url", "baseUrl":
		return in.side.pick("receiver", 0)
	case "recipients":
		return in.side.pick(made+"userEmail", which)
	case "email":
		return fmt.Sprintf("someone-%d@demo.example", in.n)
	case "key":
		return "someone:secret"
	case "currency":
		return "GBP"
	case "imsi", "subscriberId", "dataNumber", "msisdn":
		return fmt.Sprintf("44770%010d", in.n)
	case "fixedIpAddress", "ipAddress":
		return fmt.Sprintf("10.7.%d.%d", in.n/250, in.n%250)
	case "timeZone":
		return "Europe/London"
	case "from":
		return "01:00"
	case "until":
		return "05:00"
	case "firstDay", "lastDay":
		return time.Now().UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("%s %d", field, which%1000)
}
