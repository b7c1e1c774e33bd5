package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// unboundedReads are where a stream is read to its end without a bound beside it, and why it
// is none that strangers send.
var unboundedReads = map[string]string{
	"internal/changes/read.go: csv.NewReader":    "line by line, of which lineReader bounds each; the handler bounds the file",
	"internal/command/audit.go: json.NewDecoder": "a file of the operator, value by value",
	"internal/command/import.go: io.Copy":        "standard input of the operator, into a file",
	"internal/intake/handler.go: io.ReadAll":     "profile.Bounded bounds the body",
	"internal/profile/reader.go: csv.NewReader":  "Compiled.Each bounds the body",
	"internal/profile/reader.go: io.Copy":        "Compiled.Each bounds the body",
	"internal/issuer/keys.go: json.NewDecoder":   "the transport of its client bounds every answer",
}

// wholeReads are functions that read what they are given to its end or as far as it makes
// sense, with the number of the argument; -1 stands for the body of the request that a method
// is called on.
var wholeReads = map[string]int{
	"io.ReadAll": 0, "io.Copy": 1, "io.CopyBuffer": 1, "json.NewDecoder": 0, "xml.NewDecoder": 0, "gob.NewDecoder": 0, "csv.NewReader": 0,
	".ReadFrom": 0, ".ParseForm": -1, ".ParseMultipartForm": -1, ".FormValue": -1, ".PostFormValue": -1, ".MultipartReader": -1,
}

// bounds are functions that return readers of bounded length, and the types of such.
var bounds = []string{"io.LimitReader", "http.MaxBytesReader", "held.NewReader", "held.Reader", "bytes.NewReader", "bytes.NewBuffer", "strings.NewReader"}

func TestWhatStrangersSendIsReadUpToABound(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for path, file := range parsedSources(t) {
		for _, declared := range file.Decls {
			if function, is := declared.(*ast.FuncDecl); is {
				for _, read := range unboundedIn(function) {
					found[path+": "+read] = true
				}
			}
		}
	}
	for place := range found {
		if unboundedReads[place] == "" {
			t.Errorf("%s: read by held.NewReader, http.MaxBytesReader or io.LimitReader", place)
		}
	}
	for place := range unboundedReads {
		if !found[place] {
			t.Errorf("%s is not there", place)
		}
	}
}

// parsedSources are the sources but those for tests alone, by their paths.
func parsedSources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, path := range sources(t) {
		path = filepath.ToSlash(path)
		if folder := filepath.ToSlash(filepath.Dir(path)); strings.HasPrefix(path, "test/") || strings.HasSuffix(folder, "test") || strings.Contains(folder, "/internal/test") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		files[path] = file
	}
	return files
}

// unboundedIn are the reads of a function of what the same function does not bound.
func unboundedIn(function *ast.FuncDecl) (reads []string) {
	bounded := boundedIn(function)
	ast.Inspect(function, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		name := spelling(call.Fun)
		argument, whole := wholeReads[name]
		if !whole {
			name = name[strings.LastIndex(name, ".")+1:]
			if argument, whole = wholeReads["."+name]; !whole {
				return true
			}
		}
		switch {
		case argument < 0:
			if !mentions(function, "http.MaxBytesReader") {
				reads = append(reads, name)
			}
		case argument < len(call.Args):
			given := call.Args[argument]
			if !mentions(given, bounds...) && !slices.Contains(bounded, spelling(given)) {
				reads = append(reads, name)
			}
		}
		return true
	})
	return reads
}

// boundedIn are the names of what a function has of bounded readers.
func boundedIn(function *ast.FuncDecl) (names []string) {
	for _, field := range function.Type.Params.List {
		if mentions(field.Type, bounds...) {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	ast.Inspect(function, func(n ast.Node) bool {
		if assigned, is := n.(*ast.AssignStmt); is && len(assigned.Rhs) == 1 && mentions(assigned.Rhs[0], bounds...) {
			names = append(names, spelling(assigned.Lhs[0]))
		}
		return true
	})
	return names
}

// spelling is how the source writes a name with what it belongs to: io.Copy, e.body.
func spelling(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return spelling(e.X) + "." + e.Sel.Name
	}
	return ""
}

func mentions(n ast.Node, names ...string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if selector, is := n.(*ast.SelectorExpr); is && slices.Contains(names, spelling(selector)) {
			found = true
		}
		return !found
	})
	return found
}

const (
	// mostAhead bounds what is made before anything was read: the items of a channel or
	// slice, and the bytes of a buffer.
	mostItems, mostBytes = 1_000, 64 << 10
)

// Rooms that are as large as what may come, for each request, are larger than nearly all that
// comes: they grow with it instead.
func TestNoRoomIsMadeForAllThatMayCome(t *testing.T) {
	t.Parallel()
	exceptions := map[string]string{
		"internal/command/demo.go: bufio.NewReaderSize": "once, for the company of the demo",
		"internal/command/runtime.go: make":             "the ballast, once, which is never touched",
	}
	found, of := map[string]bool{}, map[string]map[string]ast.Expr{}
	for path, file := range parsedSources(t) {
		folder := filepath.Dir(path)
		if of[folder] == nil {
			of[folder] = constantsOf(t, folder)
		}
		constants := of[folder]
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && tooLarge(call, constants) {
				found[path+": "+spelling(call.Fun)] = true
			}
			return true
		})
	}
	for place := range found {
		if exceptions[place] == "" {
			t.Errorf("%s: begin small, and grow with what comes", place)
		}
	}
	for place := range exceptions {
		if !found[place] {
			t.Errorf("%s is not there", place)
		}
	}
}

// tooLarge reports whether a call makes more room than may be made ahead, as far as constants
// say. Channels of signs have no size.
func tooLarge(call *ast.CallExpr, constants map[string]ast.Expr) bool {
	name, most := spelling(call.Fun), int64(mostBytes)
	if name != "make" && name != "bufio.NewReaderSize" && name != "bufio.NewWriterSize" || len(call.Args) < 2 {
		return false
	}
	if name == "make" {
		switch made := call.Args[0].(type) {
		case *ast.ArrayType:
			if spelling(made.Elt) != "byte" {
				most = mostItems
			}
		case *ast.ChanType:
			if _, sign := made.Value.(*ast.StructType); sign {
				return false
			}
			most = mostItems
		}
	}
	value, known := constant.Int64Val(valueOf(call.Args[len(call.Args)-1], constants))
	return known && value > most
}

// valueOf is the value of a constant expression of integers; -1 of any other.
func valueOf(expression ast.Expr, constants map[string]ast.Expr) constant.Value {
	none := constant.MakeInt64(-1)
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind == token.INT {
			return constant.MakeFromLiteral(e.Value, token.INT, 0)
		}
	case *ast.Ident:
		if constants[e.Name] != nil {
			return valueOf(constants[e.Name], constants)
		}
	case *ast.ParenExpr:
		return valueOf(e.X, constants)
	case *ast.BinaryExpr:
		left, right := valueOf(e.X, constants), valueOf(e.Y, constants)
		if constant.Sign(left) < 0 || constant.Sign(right) < 0 {
			return none
		}
		switch e.Op {
		case token.SHL:
			bits, _ := constant.Uint64Val(right)
			return constant.Shift(left, token.SHL, uint(bits))
		case token.ADD, token.MUL:
			return constant.BinaryOp(left, e.Op, right)
		}
	}
	return none
}

// constantsOf are the constants of the packages in a folder, tests aside.
func constantsOf(t *testing.T, folder string) map[string]ast.Expr {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	fatal.If(t, err)
	constants := map[string]ast.Expr{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		for _, declared := range file.Decls {
			group, is := declared.(*ast.GenDecl)
			if !is || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				values := spec.(*ast.ValueSpec)
				for i, value := range values.Values {
					constants[values.Names[i].Name] = value
				}
			}
		}
	}
	return constants
}
