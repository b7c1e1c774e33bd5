package main

import (
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/tools/go/packages"

	"simgraph/internal/fatal"
)

const top = "../../.."

// neverAnswered are constants that no field of their enum has.
var neverAnswered = map[string]string{
	"simgraph/domain/webhook.CommandRequested": "is sent to providers of commands, whatever the filter of the webhook",
	"simgraph/domain/webhook.Test":             "is sent on request, whatever the filter of the webhook",
}

// Each constant of a type that fields answer as an enum is a value of the enum: what has none
// would be answered as "".
func TestEveryConstantOfAnEnumHasAValue(t *testing.T) {
	cfg, err := config.LoadConfig(filepath.Join(top, "gqlgen.yml"))
	fatal.If(t, err)
	answered := answeredTypes(t)
	constants := constantsOf(t)
	checked := 0
	for enum, model := range cfg.Models {
		if len(model.EnumValues) == 0 || !answered[enum] || !strings.HasPrefix(model.Model[0], "simgraph/domain") {
			continue
		}
		checked++
		values := map[string]bool{}
		for _, v := range model.EnumValues {
			if c := constants.byName[v.Value]; c != nil {
				values[c.Val().ExactString()] = true
			}
		}
		if len(values) == 0 {
			t.Errorf("%s: no constant was found", enum)
		}
		for name, c := range constants.byType[model.Model[0]] {
			if !values[c.Val().ExactString()] && neverAnswered[name] == "" {
				t.Errorf("%s has no value of %s in gqlgen.yml", name, enum)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d enums were checked", checked)
	}
}

// answeredTypes are the names of the types that fields answer.
func answeredTypes(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "docs/schema.graphql"))
	fatal.If(t, err)
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: string(text)})
	fatal.If(t, err)
	answered := map[string]bool{}
	for _, of := range schema.Types {
		if of.Kind != ast.Object && of.Kind != ast.Interface {
			continue
		}
		for _, field := range of.Fields {
			answered[field.Type.Name()] = true
		}
	}
	return answered
}

// known are the constants of the domain, by their full names and by their types.
type known struct {
	byName map[string]*types.Const
	byType map[string]map[string]*types.Const
}

func constantsOf(t *testing.T) known {
	t.Helper()
	all := known{map[string]*types.Const{}, map[string]map[string]*types.Const{}}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedTypes | packages.NeedName | packages.NeedImports | packages.NeedDeps, Dir: top}, "./domain/...")
	fatal.If(t, err)
	for _, of := range loaded {
		for _, name := range of.Types.Scope().Names() {
			c, is := of.Types.Scope().Lookup(name).(*types.Const)
			if !is {
				continue
			}
			full, typ := of.PkgPath+"."+name, c.Type().String()
			if all.byType[typ] == nil {
				all.byType[typ] = map[string]*types.Const{}
			}
			all.byName[full], all.byType[typ][full] = c, c
		}
	}
	return all
}
