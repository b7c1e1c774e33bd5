// Package input coerces the values that arrive with an operation as the
// GraphQL specification defines and no further: gqlgen and gqlparser take "1" for
// an Int, 1 for a String, any number of keys for a @oneOf object, and texts
// and lists of any length.
package input

import (
	"fmt"
	"strconv"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Code is the code of every error about the value of a variable.
const Code = "BAD_USER_INPUT"

// Limits bound single values.
type Limits struct {
	// List is the number of elements of a list, Text the bytes of a string.
	List, Text int
}

// DefaultLimits are 1,000 elements and 64 kB.
func DefaultLimits() Limits { return Limits{List: 1_000, Text: 64 << 10} }

// mostErrors is how many faults of one operation are named.
const mostErrors = 20

// Checker has the input types of a schema. It is safe for concurrent use.
type Checker struct {
	schema  *ast.Schema
	scalars map[string]func(any) error
	limits  Limits
}

// NewChecker returns a Checker for the schema. scalars holds, by name, what
// returns why a raw value is none of a custom scalar; its errors are shown to the
// caller. A custom scalar that is missing there takes any value. Limits hold for all.
func NewChecker(schema *ast.Schema, scalars map[string]func(any) error, limits Limits) *Checker {
	return &Checker{schema: schema, scalars: scalars, limits: limits}
}

// faults collects what is wrong with the values of one operation.
type faults struct {
	found gqlerror.List
	code  string
	at    *ast.Position
}

func (f *faults) add(where *place, format string, args ...any) {
	if len(f.found) == mostErrors {
		return
	}
	err := gqlerror.Errorf("%s: %s", where, fmt.Sprintf(format, args...))
	if f.at != nil {
		err.Locations = []gqlerror.Location{{Line: f.at.Line, Column: f.at.Column}}
	}
	errcode.Set(err, f.code)
	f.found = append(f.found, err)
}

// place is where a value stands: a variable or argument, a field of it, an
// element of that. It lives on the stack and is only spelled out in errors.
type place struct {
	around *place
	name   string
	index  int
}

func (p *place) field(name string) place { return place{around: p, name: name} }
func (p *place) element(i int) place     { return place{around: p, index: i} }

func (p *place) String() string {
	switch {
	case p.around == nil:
		return p.name
	case p.name != "":
		return p.around.String() + "." + p.name
	default:
		return p.around.String() + "[" + strconv.Itoa(p.index) + "]"
	}
}
