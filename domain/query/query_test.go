package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

var testFields = NewFields(
	Field{Name: "physicalId", Type: Text},
	Field{Name: "nickname", Type: Text},
	Field{Name: "tariffName", Type: Text, Aliases: []string{"tariff"}},
	Field{Name: "lineRental", Type: Integer},
	Field{Name: "signal", Type: Number},
	Field{Name: "isBarred", Type: Boolean},
	Field{Name: "networkState.isOnline", Type: Boolean},
	Field{Name: "terminateDate", Type: Time, Aliases: []string{"terminationDate"}},
	Field{Name: "note", Type: Text, NFC: true, NoOrder: true},
	Field{Name: "tags", Type: Set, NFC: true},
)

const allFields = "physicalId, nickname, tariffName, lineRental, signal, isBarred, networkState.isOnline, " +
	"terminateDate, note, tags"

// mustParse parses a filter of the test catalogue.
func mustParse(t *testing.T, text string) Expr {
	t.Helper()
	e, err := ParseFilter(text, testFields)
	if err != nil {
		t.Fatalf("ParseFilter(%q): %v", text, err)
	}
	return e
}

// syntaxError demands that err is a SyntaxError with these three marks.
func syntaxError(t *testing.T, err error, column int, token, reason string) {
	t.Helper()
	e, ok := errors.AsType[*SyntaxError](err)
	if !ok {
		t.Fatalf("no *SyntaxError: %v", err)
	}
	if e.Column != column || e.Token != token || !strings.Contains(e.Reason, reason) {
		t.Errorf("error at %d, token %q, reason %q;\nwant at %d, token %q, reason %q",
			e.Column, e.Token, e.Reason, column, token, reason)
	}
}

func TestFilterCanonicalText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// The form that the specification shows.
		{"physicalId eq 894410 and lineRental gt 12", `physicalId eq "894410" and lineRental gt 12`},

		// Precedence: or, and, not, comparison.
		{"isBarred eq true or lineRental eq 1 and lineRental eq 2", "isBarred eq true or lineRental eq 1 and lineRental eq 2"},
		{"(isBarred eq true or lineRental eq 1) and lineRental eq 2", "(isBarred eq true or lineRental eq 1) and lineRental eq 2"},
		{"isBarred eq true or (lineRental eq 1 and lineRental eq 2)", "isBarred eq true or lineRental eq 1 and lineRental eq 2"},
		{"not isBarred eq true and lineRental eq 1", "not isBarred eq true and lineRental eq 1"},
		{"not (isBarred eq true and lineRental eq 1)", "not (isBarred eq true and lineRental eq 1)"},
		{"not(isBarred eq true)", "not isBarred eq true"},
		{"not not isBarred eq true", "not not isBarred eq true"},
		{"((lineRental eq 1 or lineRental eq 2) or (lineRental eq 3))", "lineRental eq 1 or lineRental eq 2 or lineRental eq 3"},
		{"lineRental eq 1 and (lineRental eq 2 and lineRental eq 3)", "lineRental eq 1 and lineRental eq 2 and lineRental eq 3"},

		// Keywords in any case; fields by alias.
		{"NOT lineRental EQ 1 Or tariff LiKe x AND isBarred Ne TRUE", `not lineRental eq 1 or tariffName like "x" and isBarred ne true`},
		{"terminationDate eq NULL", "terminateDate eq null"},

		// The field gives the type, never the literal.
		{"physicalId eq 00089441000000000000001", `physicalId eq "00089441000000000000001"`},
		{"physicalId eq true", `physicalId eq "true"`},
		{`lineRental eq "007"`, "lineRental eq 7"},
		{"lineRental eq -9223372036854775808", "lineRental eq -9223372036854775808"},
		{"lineRental eq +5", "lineRental eq 5"},
		{`isBarred eq 'False'`, "isBarred eq false"},
		{"signal gt -00.50", "signal gt -0.5"},
		{"signal gt -0.0", "signal gt 0"},
		{"signal eq 12345678901234567890.123456789012345678", "signal eq 12345678901234567890.123456789012345678"},

		// Quotes and barewords.
		{`nickname eq "a \"b\" \\ 'c'"`, `nickname eq "a \"b\" \\ 'c'"`},
		{`nickname eq 'it''s "x" \'`, `nickname eq "it's \"x\" \\"`},
		{`nickname eq ""`, `nickname eq ""`},
		{`nickname eq ''`, `nickname eq ""`},
		{`nickname eq "null"`, `nickname eq "null"`},
		{`nickname like "null"`, `nickname like "null"`},
		{"physicalId eq 00-11:22_33.44+55@x/y", `physicalId eq "00-11:22_33.44+55@x/y"`},
		{"nickname eq Zürich", `nickname eq "Zürich"`},
		{"nickname eq 日本", `nickname eq "日本"`},
		{"nickname eq \"a\nb\"", "nickname eq \"a\nb\""},
		{"\t nickname\r\neq  x ", `nickname eq "x"`},
		{`nickname eq"x"and nickname eq'y'`, `nickname eq "x" and nickname eq "y"`},

		// Lists and tags.
		{"nickname in (a)", `nickname in ("a")`},
		{"nickname IN ( 'a' ,b,null)", `nickname in ("a", "b", null)`},
		{"lineRental in (1,2)", "lineRental in (1, 2)"},
		{"isBarred in (true,null)", "isBarred in (true, null)"},
		{"terminateDate in (2024-02-29, null)", "terminateDate in (2024-02-29, null)"},
		{"tags eq fleet or tags ne old or tags in (a, b)", `tags eq "fleet" or tags ne "old" or tags in ("a", "b")`},
		{"tags eq e\u0301", `tags eq "é"`},
		{"note eq e\u0301 or nickname eq e\u0301", "note eq \"é\" or nickname eq \"e\u0301\""},

		// Null.
		{"lineRental gt null", "lineRental gt null"},
		{"physicalId ne null", "physicalId ne null"},

		// Dates, in UTC.
		{"terminateDate eq 2024-01-31", "terminateDate eq 2024-01-31"},
		{`terminateDate eq "2024-01-31"`, "terminateDate eq 2024-01-31"},
		{"terminateDate gt 2024-01-31T10:00:00", "terminateDate gt 2024-01-31T10:00:00Z"},
		{"terminateDate gt 2024-01-31T10:00:00.1234569Z", "terminateDate gt 2024-01-31T10:00:00.123456Z"},
		{"terminateDate gt 2024-01-31T00:30:00+01:00", "terminateDate gt 2024-01-30T23:30:00Z"},
		{"terminateDate gt 2024-01-31T00:30:00-0130", "terminateDate gt 2024-01-31T02:00:00Z"},

		// A plus that URL decoding turned into a blank.
		{"terminateDate gt 2024-01-31T00:00:00 01:00", "terminateDate gt 2024-01-30T23:00:00Z"},
		{"terminateDate gt 2024-01-31T00:00:00.5 01:00 and isBarred eq true", "terminateDate gt 2024-01-30T23:00:00.5Z and isBarred eq true"},
		{"terminateDate in (2024-01-31T00:00:00 01:00,2024-01-31T00:00:00 02:00)", "terminateDate in (2024-01-30T23:00:00Z, 2024-01-30T22:00:00Z)"},
		{"terminateDate gt '2024-01-31T00:00:00 01:00'", "terminateDate gt 2024-01-30T23:00:00Z"},
		{"nickname eq 2024-01-31T00:00:00 01:00", `nickname eq "2024-01-31T00:00:00 01:00"`},

		// Bare values of several words.
		{"nickname eq Vodafone UK", `nickname eq "Vodafone UK"`},
		{"nickname eq AT&T and isBarred eq true", `nickname eq "AT&T" and isBarred eq true`},
		{"nickname eq O'Neil or nickname eq 5\" pipe", `nickname eq "O'Neil" or nickname eq "5\" pipe"`},
		{"nickname eq  Bang  &\tOlufsen  AND (nickname like a, b)", `nickname eq "Bang  &` + "\t" + `Olufsen" and nickname like "a, b"`},
		{"(nickname eq van 1)or(nickname eq van 2)", `nickname eq "van 1" or nickname eq "van 2"`},
		{"nickname in (Vodafone UK, AT&T ,O'Neil, 'a, b')", `nickname in ("Vodafone UK", "AT&T", "O'Neil", "a, b")`},
		{"nickname eq android or nickname eq band oracle", `nickname eq "android" or nickname eq "band oracle"`},
		{"nickname eq not in use", `nickname eq "not in use"`},
		{"nickname eq é;x", `nickname eq "é;x"`},
		{"nickname eq x\u00a0", "nickname eq \"x\u00a0\""},
		{"nickname eq x nickname eq y", `nickname eq "x nickname eq y"`},
		{"tags eq long haul", `tags eq "long haul"`},

		// Integers, however they are written.
		{"lineRental eq 1.0 or lineRental gt 2e1 or lineRental in (-5.0, 1E3)", "lineRental eq 1 or lineRental gt 20 or lineRental in (-5, 1000)"},
	} {
		if got := mustParse(t, c.text).String(); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
		if again := mustParse(t, c.want); !reflect.DeepEqual(again, mustParse(t, c.text)) {
			t.Errorf("%s: the canonical text parses to another tree, %s", c.text, again)
		}
	}
}

func TestBlankTextIsNoFilterAndNoOrder(t *testing.T) {
	for _, text := range []string{"", " ", "\t\r\n "} {
		if e := mustParse(t, text); e != nil {
			t.Errorf("filter %q: %v", text, e)
		}
		if keys, err := ParseOrder(text, testFields); keys != nil || err != nil {
			t.Errorf("order %q: %v, %v", text, keys, err)
		}
	}
}

func TestFilterTree(t *testing.T) {
	nickname, _ := testFields.Find("nickname")
	terminated, _ := testFields.Find("terminationDate")
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	got := mustParse(t, "nickname eq a or not terminateDate lt 2024-02-29 and nickname in (b, null)")
	want := Or{
		Comparison{nickname, Eq, []Value{{Text: "a"}}},
		And{
			Not{Comparison{terminated, Lt, []Value{{Time: Interval{day, day.AddDate(0, 0, 1)}}}}},
			Comparison{nickname, In, []Value{{Text: "b"}, {Null: true}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
}

func TestFilterErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		token  string
		reason string
	}{
		// Structure.
		{"and", 1, "and", "a field is expected"},
		{"not", 4, "", "a field is expected"},
		{"'nickname' eq x", 1, "'nickname'", "a field is expected"},
		{"nickname eq 'x' nickname eq y", 17, "nickname", `"and", "or" or the end`},
		{"nickname eq x and", 18, "", "a field is expected"},
		{"nickname eq x or or", 18, "or", "a field is expected"},
		{"(nickname eq x", 15, "", `")" is expected`},
		{"nickname eq x)", 14, ")", "the end is expected"},
		{"()", 2, ")", "a field is expected"},
		{"(nickname) eq x", 10, ")", "an operator is expected"},

		// Fields and operators.
		{"nick eq x", 1, "nick", "no such field"},
		{"NickName eq x", 1, "NickName", "no such field"},
		{"isBarred eq true and imsi eq 1", 22, "imsi", "no such field"},
		{"isBarred", 9, "", "an operator is expected"},
		{"isBarred and isBarred", 10, "and", "an operator is expected: eq, ne, gt, ge, lt, le, like or in"},
		{"nickname 'eq' x", 10, "'eq'", "an operator is expected"},
		{"nickname = x", 10, "=", "not part of the language"},
		{"lineRental like 1", 12, "like", "like is for text, and lineRental is of type integer"},
		{"tags like x", 6, "like", "like is for text"},
		{"tags gt x", 6, "gt", "tags has no order: it takes eq, ne and in"},
		{"isBarred LE true", 10, "LE", "isBarred has no order"},

		// Values.
		{"nickname eq", 12, "", "a value is expected"},
		{"nickname eq )", 13, ")", "a value is expected"},
		{"nickname eq and", 13, "and", "put quotes around a keyword"},
		{"nickname eq LIKE", 13, "LIKE", "put quotes around a keyword"},
		{"nickname like null", 15, "null", "like needs a text"},
		{"tags eq null", 9, "null", "a set is never null"},
		{"lineRental eq 1.5", 15, "1.5", "a whole number of 64 bits"},
		{"lineRental eq 9223372036854775808", 15, "9223372036854775808", "a whole number of 64 bits"},
		{"lineRental eq 'null'", 15, "'null'", "a whole number"},
		{"lineRental eq 0x1", 15, "0x1", "a whole number"},
		{"lineRental eq 1 isBarred eq true", 15, "1 isBarred eq true", "a whole number"},
		{"nickname eq  and isBarred eq true", 14, "and", "a value is expected"},
		{"nickname eq Vodafone (UK)", 13, "Vodafone (", "put a value with parentheses into quotes"},
		{"signal eq 1e3", 11, "1e3", "a decimal of up to 38 digits"},
		{"signal eq .5", 11, ".5", "a decimal"},
		{"signal eq 5.", 11, "5.", "a decimal"},
		{"signal eq +-5", 11, "+-5", "a decimal"},
		{"signal eq -+5", 11, "-+5", "a decimal"},
		{"isBarred eq 1", 13, "1", "true or false"},
		{"terminateDate eq yesterday", 18, "yesterday", "a date (2006-01-31) or date-time"},
		{"terminateDate eq 2023-02-29", 18, "2023-02-29", "no such day"},
		{"terminateDate eq 2024-01-31T24:00:00Z", 18, "2024-01-31T24:00:00Z", "no such moment"},
		{"terminateDate eq 2024-01-31T10:00:00 0100", 18, "2024-01-31T10:00:00 0100", "the offset is not Z"},
		{"terminateDate eq 2024-01-31T10:00:00  01:00", 18, "2024-01-31T10:00:00  01:00", "the offset is not Z"},
		{"terminateDate eq 2024-01-31 01:00", 18, "2024-01-31 01:00", "a date (2006-01-31)"},
		{"terminateDate eq 2024-01-31T10:00:00Z 01:00", 18, "2024-01-31T10:00:00Z 01:00", "the offset is not Z"},
		{"terminateDate eq 2024-01-31T10:00:00 01:000", 18, "2024-01-31T10:00:00 01:000", "the offset is not Z"},

		// Lists.
		{"nickname in x", 13, "x", `"(" is expected after in`},
		{"nickname in ()", 14, ")", "a value is expected"},
		{"nickname in ('a' b)", 18, "b", `"," or ")"`},
		{"nickname in (a,)", 16, ")", "a value is expected"},
		{"nickname in (a", 15, "", `"," or ")"`},
		{"nickname eq (a)", 13, "(", "a value is expected"},

		// Characters. Columns count characters, not bytes.
		{`nickname eq "é" or nick eq x`, 20, "nick", "no such field"},
		{`nickname eq "abc`, 13, `"abc`, "the closing quote is missing"},
		{`nickname eq 'it''s`, 13, `'it''s`, "the closing quote is missing"},
		{`nickname eq "a\n"`, 13, `"a\`, `a backslash stands before " or \ only`},
		{`nickname eq "a\`, 13, `"a\`, "a backslash"},
		{"é;x eq 1", 1, "é", "no such field"},
		{"(;x eq 1)", 2, ";", "not part of the language"},
		{"nickname eq \"é\xff\"", 15, "\uFFFD", "not valid UTF-8"},
		{"nickname eq \"a\x00\"", 15, "\x00", "NUL"},
	} {
		e, err := ParseFilter(c.text, testFields)
		if err == nil {
			t.Errorf("%q is accepted as %s", c.text, e)
			continue
		}
		t.Run(c.text, func(t *testing.T) { syntaxError(t, err, c.column, c.token, c.reason) })
	}
}

func TestErrorsNameColumnTokenAndFields(t *testing.T) {
	_, err := ParseFilter("isBarred eq true and nick eq x", testFields)
	if want := `column 22, "nick": no such field; the fields are ` + allFields; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	_, err = ParseFilter("isBarred eq", testFields)
	if want := "column 12, end of text: a value is expected"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	_, err = ParseFilter(strings.Repeat("é", 500), testFields)
	syntaxError(t, err, 1, strings.Repeat("é", longestToken)+"…", "no such field")
}

func TestReplacementCharacterIsOrdinaryText(t *testing.T) {
	if got := mustParse(t, `nickname eq "`+"\uFFFD"+`"`).String(); got != "nickname eq \"\uFFFD\"" {
		t.Error(got)
	}
}

func TestFilterBounds(t *testing.T) {
	repeat := func(n int, comparison string) string {
		return strings.Repeat(comparison+" and ", n-1) + comparison
	}
	nested := func(n int) string {
		return strings.Repeat("(", n) + "isBarred eq true" + strings.Repeat(")", n)
	}
	text := func(bytes int) string {
		const rest = `nickname eq ""`
		return `nickname eq "` + strings.Repeat("x", bytes-len(rest)) + `"`
	}
	list := "lineRental in (" + strings.Repeat("1,", 49) + "1)"
	for _, within := range []string{
		repeat(100, "isBarred eq true"), list + " or " + list, nested(20),
		strings.Repeat("not ", 20) + "isBarred eq true", strings.Repeat("not (", 10) + "isBarred eq true" + strings.Repeat(")", 10),
		repeat(99, "("+"isBarred eq true)"), text(MaxBytes),
	} {
		if err := Check(mustParse(t, within)); err != nil {
			t.Errorf("parsed, then refused: %v", err)
		}
	}
	for _, beyond := range []struct {
		text   string
		column int
		token  string
		reason string
	}{
		{repeat(101, "isBarred eq true"), 100*21 + 13, "true", "more than 100 comparisons"},
		{list + " or " + list + " or isBarred eq true", 2*len(list) + 4 + 17, "true", "more than 100 comparisons"},
		{"lineRental in (" + strings.Repeat("1,", 200) + "1)", 216, "1", "more than 100 comparisons"},
		{nested(21), 21, "(", "nest deeper than 20"},
		{nested(1500), 21, "(", "nest deeper than 20"},
		{strings.Repeat("not ", 21) + "isBarred eq true", 81, "not", "nest deeper than 20"},
		{text(MaxBytes + 1), MaxBytes + 1, `"`, "longer than 4096 bytes"},
		{strings.Repeat(" ", MaxBytes+1), MaxBytes + 1, " ", "longer than 4096 bytes"},
	} {
		_, err := ParseFilter(beyond.text, testFields)
		syntaxError(t, err, beyond.column, beyond.token, beyond.reason)
	}
}

func TestCompareReadsTypedValuesAsTheLanguageDoes(t *testing.T) {
	at := time.Date(2024, 1, 31, 1, 0, 0, 123456789, time.FixedZone("", 3600))
	for _, c := range []struct {
		field  string
		op     Op
		values []any
		want   string
	}{
		{"nickname", Eq, []any{`a"b`}, `nickname eq "a\"b"`},
		{"tariff", Ne, []any{nil}, "tariffName ne null"},
		{"lineRental", Gt, []any{int32(5)}, "lineRental gt 5"},
		{"lineRental", In, []any{5, int64(-6), "7", nil}, "lineRental in (5, -6, 7, null)"},
		{"signal", Le, []any{1.5}, "signal le 1.5"},
		{"signal", Le, []any{1e20}, "signal le 100000000000000000000"},
		{"isBarred", Eq, []any{true}, "isBarred eq true"},
		{"terminateDate", Lt, []any{at}, "terminateDate lt 2024-01-31T00:00:00.123456Z"},
		{"terminateDate", Lt, []any{"2024-01-31"}, "terminateDate lt 2024-01-31"},
		{"tags", In, []any{"a", "b"}, `tags in ("a", "b")`},
	} {
		e, err := Compare(testFields, c.field, c.op, c.values...)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if e.String() != c.want || !reflect.DeepEqual(e, mustParse(t, c.want)) {
			t.Errorf("got %s, want %s", e, c.want)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, c := range []struct {
		field  string
		op     Op
		values []any
		token  string
		reason string
	}{
		{"nick", Eq, []any{"x"}, "nick", "no such field"},
		{"nickname", "is", []any{"x"}, "is", "an operator is expected"},
		{"nickname", Eq, nil, "eq", "one value"},
		{"nickname", Eq, []any{"x", "y"}, "eq", "one value"},
		{"nickname", Like, []any{nil}, "null", "a text is expected, not null"},
		{"nickname", Eq, []any{"a\x00"}, "a\x00", "NUL"},
		{"nickname", Eq, []any{"a\xff"}, "a\xff", "not valid UTF-8"},
		{"nickname", Eq, []any{strings.Repeat("x", MaxBytes+1)}, strings.Repeat("x", longestToken) + "…", "longer than"},
		{"nickname", Eq, []any{[]string{"x"}}, "[x]", "no value of a filter"},
		{"isBarred", Gt, []any{true}, "gt", "has no order"},
		{"tags", Eq, []any{nil}, "null", "never null"},
		{"lineRental", Eq, []any{"x"}, "x", "a whole number"},
		{"signal", Eq, []any{1e100}, "1e+100", "a decimal"},
	} {
		_, err := Compare(testFields, c.field, c.op, c.values...)
		syntaxError(t, err, 0, c.token, c.reason)
	}
}

func TestInWithoutAValueIsTrueOfNothing(t *testing.T) {
	e, err := Compare(testFields, "nickname", In)
	if some, ok := e.(Or); err != nil || !ok || len(some) != 0 || e.String() != "false" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestTokensStandInQuotesThatTheyDoNotHave(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`nickname "x"`, `column 10, '"x"': an operator`},
		{`nickname is`, `column 10, "is": an operator`},
		{"nickname \\", `column 10, "\": `},
		{"nickname \x01", `column 10, "\x01": `},
	} {
		if _, err := ParseFilter(c.text, testFields); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestAllAndAnyFlatten(t *testing.T) {
	a, b, c := mustParse(t, "lineRental eq 1"), mustParse(t, "lineRental eq 2"), mustParse(t, "lineRental eq 3")
	for _, test := range []struct {
		got  Expr
		want string
	}{
		{All(a), "lineRental eq 1"},
		{All(nil, a, nil), "lineRental eq 1"},
		{All(a, All(b, c)), "lineRental eq 1 and lineRental eq 2 and lineRental eq 3"},
		{Any(Any(a, b), c), "lineRental eq 1 or lineRental eq 2 or lineRental eq 3"},
		{All(Any(a, b), c), "(lineRental eq 1 or lineRental eq 2) and lineRental eq 3"},
		{Not{Any(a)}, "not lineRental eq 1"},
	} {
		if test.got.String() != test.want || !reflect.DeepEqual(test.got, mustParse(t, test.want)) {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
	if All() != nil || All(nil) != nil || Any(a, nil) != nil {
		t.Error("what demands nothing is not nil")
	}
}

func TestCheckBoundsTreesOfTypedInputs(t *testing.T) {
	leaf := mustParse(t, "lineRental eq 1")
	nots := func(n int) Expr {
		e := leaf
		for range n {
			e = Not{e}
		}
		return e
	}
	alternating := func(n int) Expr {
		e := Any(leaf, leaf)
		for range n {
			e = Any(All(e, leaf), leaf)
		}
		return e
	}
	long, _ := Compare(testFields, "nickname", Eq, strings.Repeat("x", MaxBytes))
	for reason, e := range map[string]Expr{
		tooDeep:                 nots(MaxDepth + 1),
		tooMany:                 All(make101(leaf)...),
		tooLong:                 All(long, mustParse(t, "nickname eq x")),
		"a condition is missin": Not{},
	} {
		if err := Check(e); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("want %q, got %v", reason, err)
		}
	}
	if Check(alternating(MaxDepth+1)) == nil || Check(nots(1_000_000)) == nil {
		t.Error("a deep tree passes")
	}
	for _, e := range []Expr{nil, leaf, Any(), All(leaf, Any()), Not{Any()}, nots(MaxDepth), alternating(MaxDepth), All(make101(leaf)[1:]...)} {
		if err := Check(e); err != nil {
			t.Errorf("refused: %v", err)
		}
	}
	if got := mustParse(t, alternating(MaxDepth).String()); !reflect.DeepEqual(got, alternating(MaxDepth)) {
		t.Errorf("what Check lets pass does not parse: %s", got)
	}
}

func make101(e Expr) []Expr {
	exprs := make([]Expr, MaxComparisons+1)
	for i := range exprs {
		exprs[i] = e
	}
	return exprs
}

func TestOrder(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nickname", "nickname ASC"},
		{"nickname desc", "nickname DESC"},
		{" lineRental ASC , tariff DeSc,networkState.isOnline ", "lineRental ASC,tariffName DESC,networkState.isOnline ASC"},
		{"terminationDate DESC", "terminateDate DESC"},
	} {
		keys, err := ParseOrder(c.text, testFields)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := orderText(keys); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func orderText(keys []Order) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.String()
	}
	return strings.Join(texts, ",")
}

func TestOrderErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		token  string
		reason string
	}{
		{"nick", 1, "nick", "no such field"},
		{"NICKNAME", 1, "NICKNAME", "no such field"},
		{"nickname ASC ASC", 14, "ASC", `"," or the end`},
		{"nickname lineRental", 10, "lineRental", `ASC, DESC`},
		{"nickname;", 9, ";", "not part of the language"},
		{"nickname,", 10, "", "a field is expected"},
		{",nickname", 1, ",", "a field is expected"},
		{"nickname,,lineRental", 10, ",", "a field is expected"},
		{"'nickname'", 1, "'nickname'", "a field is expected"},
		{"ASC", 1, "ASC", "no such field"},
		{"nickname, nickname DESC", 11, "nickname", "named twice"},
		{"tariffName, tariff", 13, "tariff", "named twice"},
		{"tags", 1, "tags", "cannot be ordered"},
		{"note", 1, "note", "cannot be ordered"},
		{"nickname 'x", 10, "'x", "closing quote"},
		{"é\xff", 2, "\uFFFD", "not valid UTF-8"},
		{strings.Repeat(" ", MaxBytes) + "x", MaxBytes + 1, "x", "longer than"},
	} {
		_, err := ParseOrder(c.text, testFields)
		t.Run(c.text[:min(20, len(c.text))], func(t *testing.T) { syntaxError(t, err, c.column, c.token, c.reason) })
	}
	_, err := ParseOrder("x", testFields)
	if !strings.HasSuffix(err.Error(), "the fields are "+strings.TrimSuffix(allFields, ", note, tags")) {
		t.Errorf("fields that do not order are offered: %v", err)
	}
}

func TestCatalogueRefusesTwoFieldsOfOneName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewFields(Field{Name: "a"}, Field{Name: "b", Aliases: []string{"a"}})
}
