package main

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"simgraph/internal/fatal"
)

// references are what the functions of simgraph refer to, by their full names.
type references struct {
	// functions are other functions; a method of an interface is "." with its name and
	// the methods of that interface.
	functions map[string]map[string]bool
	// deletes are statements and functions that delete.
	deletes map[string]map[string]bool
	// methods are those of each type, by their short names.
	methods map[string]map[string]string
}

// deletesRows finds statements that delete what is stored.
var deletesRows = regexp.MustCompile(`\b(?:DELETE FROM|TRUNCATE|DROP (?:TABLE|SCHEMA|VIEW|COLUMN)) `)

// removesFiles are the functions that remove or replace files.
var removesFiles = []string{"os.Remove", "os.RemoveAll", "os.Rename", "os.Truncate", "os.Create", "os.WriteFile"}

// readSources reads what the functions of simgraph refer to.
func readSources(t *testing.T) *references {
	t.Helper()
	config := &packages.Config{
		Context: t.Context(),
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}
	all, err := packages.Load(config, "./db/...", "./domain/...", "./internal/...")
	fatal.If(t, err)
	r := &references{map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]string{}}
	for _, pkg := range all {
		if len(pkg.Errors) > 0 {
			t.Fatal(pkg.Errors)
		}
		for _, file := range pkg.Syntax {
			for _, declared := range file.Decls {
				if function, is := declared.(*ast.FuncDecl); is {
					r.read(pkg.TypesInfo, function)
				}
			}
		}
	}
	return r
}

func (r *references) read(info *types.Info, function *ast.FuncDecl) {
	of, is := info.Defs[function.Name].(*types.Func)
	if !is {
		return
	}
	name := of.Origin().FullName()
	if function.Recv != nil {
		receiver := strings.Trim(name[:strings.LastIndex(name, ".")], "(*)")
		if r.methods[receiver] == nil {
			r.methods[receiver] = map[string]string{}
		}
		r.methods[receiver][function.Name.Name] = name
	}
	r.functions[name], r.deletes[name] = map[string]bool{}, map[string]bool{}
	ast.Inspect(function, func(node ast.Node) bool {
		identifier, is := node.(*ast.Ident)
		if !is {
			return true
		}
		switch used := info.Uses[identifier].(type) {
		case *types.Func:
			r.functions[name][called(used)] = true
			if slices.Contains(removesFiles, used.FullName()) {
				r.deletes[name][used.FullName()] = true
			}
		case *types.Const:
			if used.Val().Kind() == constant.String && deletesRows.MatchString(constant.StringVal(used.Val())) {
				r.deletes[name][used.Name()] = true
			}
		}
		return true
	})
}

// called is the name of a function, or "." with the names of the methods of its
// interface, its own first.
func called(f *types.Func) string {
	receiver := f.Signature().Recv()
	if receiver == nil || f.Pkg() == nil || !strings.HasPrefix(f.Pkg().Path(), "simgraph/") {
		return f.Origin().FullName()
	}
	of, is := receiver.Type().Underlying().(*types.Interface)
	if !is {
		return f.Origin().FullName()
	}
	names := "." + f.Name()
	for method := range of.Methods() {
		names += " " + method.Name()
	}
	return names
}

// implementations are the methods that a call of an interface's may run.
func (r *references) implementations(of string) (names []string) {
	wanted := strings.Fields(of[1:])
	for _, methods := range r.methods {
		if !slices.ContainsFunc(wanted, func(name string) bool { return methods[name] == "" }) {
			names = append(names, methods[wanted[0]])
		}
	}
	return names
}

// ways are what a function has a way to.
type ways struct {
	// deletes are the ways to statements and functions that delete, by these.
	deletes   map[string]string
	functions map[string]bool
}

// from returns what a function has a way to, not by the others.
func (r *references) from(start string, except ...string) ways {
	found := ways{map[string]string{}, map[string]bool{}}
	var visit func(name, path string)
	visit = func(name, path string) {
		if found.functions[name] || slices.Contains(except, name) {
			return
		}
		found.functions[name] = true
		path += " > " + name
		for deletes := range r.deletes[name] {
			found.deletes[deletes] = path + " > " + deletes
		}
		for _, next := range slices.Sorted(maps.Keys(r.functions[name])) {
			if !strings.HasPrefix(next, ".") {
				visit(next, path)
				continue
			}
			for _, method := range r.implementations(next) {
				visit(method, path)
			}
		}
	}
	visit(start, "")
	return found
}
