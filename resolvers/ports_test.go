package resolvers_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"simgraph/db/source"
	"simgraph/domain"
	sources "simgraph/domain/source"
	"simgraph/internal/fatal"
	"simgraph/internal/profile"
)

// withoutDatabase are methods of ports that need no database for the arguments of filled.
var withoutDatabase = map[string]string{
	"Access.EndToken":        "a text that is no token ends none",
	"Analytics.SeriesBy":     "a span of no time has no usage",
	"Operations.FindResults": "a text that names no row of an operation names none",
}

// filled is a value of the type that is not empty: text is that of its strings.
func filled(of reflect.Type, text string) reflect.Value {
	value := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Pointer:
		if of == reflect.TypeFor[*time.Location]() {
			return reflect.ValueOf(time.UTC)
		}
		if of.Elem().Kind() == reflect.Struct {
			value.Set(filled(of.Elem(), text).Addr())
		}
	case reflect.String:
		value.SetString(text)
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(1)
	case reflect.Slice:
		return reflect.Append(value, filled(of.Elem(), text))
	case reflect.Struct:
		for i := range of.NumField() {
			if of.Field(i).IsExported() {
				value.Field(i).Set(filled(of.Field(i).Type, text))
			}
		}
	default: // what may be left out is
	}
	return value
}

// A port that cannot read the database says so, and does not answer with what it has without,
// such as a ready profile.
func TestEveryPortReturnsAnErrorWhenTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	scope := s.caller.Scope
	// The text is an id where ids are looked up, and the name of what needs no database.
	const text = "019b2c5e-0000-7000-8000-000000000001"
	s.ports.Sources = source.New(s.pool, source.Options{Ready: []*sources.Profile{{Name: text}}, Check: profile.Check, Now: clock})
	fatal.If(t, s.pool.Close())
	ports, reads, failure := reflect.ValueOf(s.ports), reflect.TypeFor[context.Context](), reflect.TypeFor[error]()
	for i := range ports.NumField() {
		port, declared := ports.Field(i), ports.Type().Field(i)
		for m := range declared.Type.NumMethod() {
			method, name := declared.Type.Method(m).Type, declared.Name+"."+declared.Type.Method(m).Name
			if port.IsNil() || method.NumIn() == 0 || method.In(0) != reads || method.NumOut() == 0 || method.Out(method.NumOut()-1) != failure {
				continue
			}
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for n := 1; n < method.NumIn(); n++ {
				args = append(args, filled(method.In(n), text))
				if method.In(n) == reflect.TypeFor[domain.Scope]() {
					args[n] = reflect.ValueOf(scope)
				}
			}
			call := port.Method(m).Call
			if method.IsVariadic() {
				call = port.Method(m).CallSlice
			}
			results := call(args)
			if results[len(results)-1].IsNil() != (withoutDatabase[name] != "") {
				t.Errorf("%s: got the error %v", name, results[len(results)-1])
			}
		}
	}
}
