// Package guard bounds what a GraphQL document may ask for. Measure runs on
// the parsed document before validation, whose running time and whose errors
// grow faster than the document; Price is known before an operation runs. Permissions are
// what the schema asks of callers.
package guard

// Limits of one document. What several operations or fragments hold counts
// together. A zero limit lets nothing through.
type Limits struct {
	// Bytes and Tokens bound the text; comments count.
	Bytes, Tokens int
	// Depth bounds fields within fields, Nesting also the fragments between
	// them and, separately, lists and objects within argument values.
	Depth, Nesting int
	// Selections bounds fields, spreads and inline fragments, each fragment
	// counted as often as it is spread.
	Selections int
	// Level bounds the fields that meet in one selection set.
	Level int
	// Overlap bounds the pairs of fields that validation may have to compare:
	// the squares, summed up, of how often a name stands at a depth.
	Overlap int
	// Aliases and RootFields are counted after spreading.
	Aliases, RootFields int
	// Introspection bounds __schema and __type, counted after spreading.
	Introspection int
	// Directives, Variables and Fragments are counted as written.
	Directives, Variables, Fragments int
	// Cost bounds the price of one operation (see Price).
	Cost int
}

// DefaultLimits let the introspection of every common client through.
func DefaultLimits() Limits {
	return Limits{
		Bytes:         64 << 10,
		Tokens:        10_000,
		Depth:         15,
		Nesting:       50,
		Selections:    2_000,
		Level:         300,
		Overlap:       200_000,
		Aliases:       50,
		RootFields:    50,
		Introspection: 4,
		Directives:    100,
		Variables:     200,
		Fragments:     100,
		Cost:          50_000,
	}
}

// Unlimited is for documents that are part of the program.
func Unlimited() Limits {
	return Limits{
		Bytes: most, Tokens: most, Depth: most, Nesting: most, Selections: most, Level: most, Overlap: most, Aliases: most,
		RootFields: most, Introspection: most, Directives: most, Variables: most, Fragments: most, Cost: most,
	}
}
