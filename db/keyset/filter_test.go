package keyset_test

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"pgregory.net/rapid"

	"simgraph/db/dbtest"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

var filterFields = query.NewFields(
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "bytes", Type: query.Integer},
	query.Field{Name: "small", Type: query.Integer},
	query.Field{Name: "signal", Type: query.Number},
	query.Field{Name: "online", Type: query.Boolean},
	query.Field{Name: "at", Type: query.Time},
	query.Field{Name: "tariff", Type: query.Text},
	query.Field{Name: "fee", Type: query.Integer},
	query.Field{Name: "tags", Type: query.Set, NFC: true},
	query.Field{Name: "note", Type: query.Text},
)

// filterColumn hides tariff and fee of the rows that are hidden.
func filterColumn(field string) keyset.FilterColumn {
	switch field {
	case "tariff", "fee":
		return keyset.NewColumn("r."+field, "r.hidden")
	case "tags":
		return keyset.NewColumn("EXISTS (SELECT FROM row_tags t WHERE t.id = r.id AND t.tag = ANY({values}))", "")
	}
	if field == "note" {
		return keyset.NewTextColumn("r.note")
	}
	return keyset.NewColumn("r."+field, "")
}

func parseFilter(t *testing.T, text string) query.Expr {
	t.Helper()
	e, err := query.ParseFilter(text, filterFields)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func TestFilterSQL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		filter, sql string
		args        int
	}{
		{"", `TRUE`, 0},
		{"name eq x", `(r.name = $2::text)`, 1},
		{"not name ne x", `(r.name = $2::text)`, 1},
		{"name ne x", `((r.name = $2::text) IS NOT TRUE)`, 1},
		{"not not name eq x", `(r.name = $2::text)`, 1},
		{"name eq null", `(r.name IS NULL)`, 0},
		{"name ne null", `(NOT (r.name IS NULL))`, 0},
		{"note eq null", `(r.note = '')`, 0},
		{"note ne null", `(NOT (r.note = ''))`, 0},
		{"note in (a, null)", `(r.note = '' OR r.note = $2::text)`, 1},
		{"name gt null", `(FALSE)`, 0},
		{"name in (a, b, null)", `(r.name IS NULL OR r.name = ANY($2::text[]))`, 1},
		{"bytes in (1, 2)", `(r.bytes = ANY($2::bigint[]))`, 1},
		{"signal in (1, 2)", `(r.signal = ANY($2::numeric[]))`, 1},
		{"online in (true, false)", `(r.online = ANY($2::boolean[]))`, 1},
		{"name gt x", `(r.name COLLATE "C" > $2::text /* by value */)`, 1},
		{"not bytes le 5", `((r.bytes <= $2::bigint /* by value */) IS NOT TRUE)`, 1},
		{"name like x", `(r.name COLLATE "default" ILIKE $2::text ESCAPE '\' /* by value */)`, 1},
		{"at eq 2024-02-29", `(r.at >= $2::timestamptz AND r.at < $3::timestamptz /* by value */)`, 2},
		{"at gt 2024-02-29", `(r.at >= $2::timestamptz /* by value */)`, 1},
		{"tags ne x", `(NOT (EXISTS (SELECT FROM row_tags t WHERE t.id = r.id AND t.tag = ANY($2::text[])) /* by value */))`, 1},
		{"not (name eq x and (bytes eq 1 or online eq true))",
			`(((r.name = $2::text) IS NOT TRUE) OR (((r.bytes = $3::bigint) IS NOT TRUE) AND ((r.online = true) IS NOT TRUE)))`, 2},
		{"not tariff eq x", `((r.hidden) IS NOT TRUE AND ((r.tariff = $2::text) IS NOT TRUE))`, 1},
	} {
		args := []any{"the statement's own"}
		sql := keyset.CompileFilter(parseFilter(t, c.filter), filterColumn, &args)
		if sql != c.sql || len(args) != c.args+1 {
			t.Errorf("%s\n got %s with %d\nwant %s with %d", c.filter, sql, len(args)-1, c.sql, c.args)
		}
	}
}

// A comparison of which the number of rows hangs on its value is planned by it: all but those with one value, of each
// type and operator of the language.
func TestAllButEqualValuesArePlannedByTheirValue(t *testing.T) {
	t.Parallel()
	values := map[query.Type]string{query.Integer: "5", query.Number: "5", query.Boolean: "true", query.Time: "2024-02-29T00:00:00Z"}
	compiled := 0
	for _, field := range filterFields.All() {
		for _, op := range []query.Op{query.Eq, query.Ne, query.Gt, query.Ge, query.Lt, query.Le, query.Like, query.In} {
			text := fmt.Sprintf("%s %s %s", field.Name, op, cmp.Or(values[field.Type], "x"))
			e, err := query.ParseFilter(text, filterFields)
			if err != nil {
				continue // the type has no such operator
			}
			compiled++
			sql := keyset.CompileFilter(e, filterColumn, &[]any{"the statement's own"})
			isEqual := field.Type != query.Set && (op == query.Eq || op == query.Ne || op == query.In)
			if strings.Contains(sql, pg.ByValue) == isEqual {
				t.Errorf("%s: %s", text, sql)
			}
		}
	}
	if compiled < 40 {
		t.Errorf("%d comparisons were compiled", compiled)
	}
}

// The bounds of the language hold for dates beyond PostgreSQL's usual ones too.
func TestFilterValuesAtTheEdgesReachPostgreSQL(t *testing.T) {
	t.Parallel()
	table := newFilterTable(t, []filterRow{{ID: 1, Name: new("x")}})
	for filter, want := range map[string]int{
		"at ge 0001-01-01 or at le 9999-12-31":                        0,
		"not at le 9999-12-31T23:59:59.999999Z":                       1,
		"small eq 9223372036854775807 or fee gt -9223372036854775808": 0,
		"signal lt " + strings.Repeat("9", 38):                        0,
		`name like "` + strings.Repeat("%", 4000) + `"`:               0,
		`name eq "'; DROP TABLE rows; --"`:                            0,
		"name in (" + strings.Repeat("y,", 99) + "x)":                 1,
		strings.Repeat("not ", 20) + "name eq x":                      1,
	} {
		if got := len(table.matches(t, parseFilter(t, filter))); got != want {
			t.Errorf("%.80s: %d rows, want %d", filter, got, want)
		}
	}
}

func TestLikeTakesWildcardsForThemselves(t *testing.T) {
	t.Parallel()
	table := newFilterTable(t, []filterRow{
		{ID: 1, Name: new("100%")}, {ID: 2, Name: new("100x")}, {ID: 3, Name: new("a_b")}, {ID: 4, Name: new("axb")},
		{ID: 5, Name: new(`c\d`)}, {ID: 6, Name: new("")}, {ID: 7},
	})
	for filter, want := range map[string]string{
		"name like '0%'":     "[1]",
		"name like 'A_B'":    "[3]",
		`name like 'C\'`:     "[5]",
		`name like '\d'`:     "[5]",
		"name like '%'":      "[1]",
		"name like ''":       "[1 2 3 4 5 6]",
		"not name like '00'": "[3 4 5 6 7]",
	} {
		if got := fmt.Sprint(table.matches(t, parseFilter(t, filter))); got != want {
			t.Errorf("%s: rows %s, want %s", filter, got, want)
		}
	}
}

func TestMaskedComparisonsTellNothing(t *testing.T) {
	t.Parallel()
	table := newFilterTable(t, []filterRow{
		{ID: 1, Tariff: new("gold"), Hidden: new(true)}, {ID: 2, Tariff: new("gold"), Hidden: new(false)}, {ID: 3, Hidden: new(true)},
	})
	for filter, want := range map[string]string{
		"tariff eq gold":                            "[2]",
		"tariff ne gold":                            "[]",
		"not tariff eq gold":                        "[]",
		"not not tariff ne silver":                  "[2]",
		"tariff eq null":                            "[]",
		"tariff ne null":                            "[2]",
		"tariff eq gold or not tariff eq gold":      "[2]",
		"not tariff gt null":                        "[2]",
		"tariff eq gold or name eq null":            "[1 2 3]",
		"not (tariff eq gold and name ne null)":     "[1 2 3]",
		"not (tariff eq silver or name ne null)":    "[2]",
		"tariff in (gold, null) and name eq null":   "[2]",
		"not (tariff like old or fee eq 1)":         "[]",
		"not (tariff like old and not fee eq null)": "[2]",
	} {
		if got := fmt.Sprint(table.matches(t, parseFilter(t, filter))); got != want {
			t.Errorf("%s: rows %s, want %s", filter, got, want)
		}
	}
}

func TestLikeKnowsTheCaseOfEveryAlphabet(t *testing.T) {
	t.Parallel()
	table := newFilterTable(t, []filterRow{{ID: 1, Name: new("CAFÉ Žižkov")}})
	var folds bool
	fatal.If(t, table.Get(&folds, `SELECT lower('É' COLLATE "default") = 'é'`))
	if !folds {
		t.Skip("the locale of this PostgreSQL knows ASCII only")
	}
	for _, filter := range []string{"name like café", "name like žižKOV", "name like 'fé ž'"} {
		if len(table.matches(t, parseFilter(t, filter))) != 1 {
			t.Errorf("%s finds nothing", filter)
		}
	}
}

// A filter means to PostgreSQL what the documentation of package query says,
// which evaluate spells out; its text means the same.
func TestFilterSelectsWhatItSays(t *testing.T) {
	t.Parallel()
	rows := filterRows()
	table := newFilterTable(t, rows)
	rapid.Check(t, func(t *rapid.T) {
		filter := drawFilter(t, 4)
		if err := query.Check(filter); err != nil {
			t.Skip(err)
		}
		if again, err := query.ParseFilter(filter.String(), filterFields); err == nil && !reflect.DeepEqual(again, filter) {
			t.Fatalf("%s parses as %s", filter, again)
		}
		var want []int
		for _, row := range rows {
			if evaluate(filter, row) == yes {
				want = append(want, row.ID)
			}
		}
		if got := table.matches(t, filter); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s\n got %v\nwant %v", filter, got, want)
		}
	})
}

// filterTable holds filterRows in PostgreSQL.
type filterTable struct{ *sqlx.DB }

func newFilterTable(t *testing.T, rows []filterRow) filterTable {
	t.Helper()
	table := filterTable{dbtest.New(t)}
	table.MustExec(`
CREATE TABLE rows (
  id int PRIMARY KEY, name text COLLATE "C", bytes bigint, small int, signal numeric, online boolean, at timestamptz,
  tariff text COLLATE "C", fee int, hidden boolean, note text COLLATE "C" NOT NULL
);
CREATE TABLE row_tags (id int, tag text COLLATE "C")`)
	for _, row := range rows {
		_, err := table.NamedExec(`
INSERT INTO rows (id, name, bytes, small, signal, online, at, tariff, fee, hidden, note)
VALUES (:id, :name, :bytes, :small, CAST(:signal AS numeric), :online, :at, :tariff, :fee, :hidden, :note)`, row)
		fatal.If(t, err)
		for _, tag := range row.Tags {
			table.MustExec("INSERT INTO row_tags VALUES ($1, $2)", row.ID, tag)
		}
	}
	return table
}

func (table filterTable) matches(t interface{ Fatalf(string, ...any) }, filter query.Expr) []int {
	var (
		args []any
		ids  []int
	)
	sql := keyset.CompileFilter(filter, filterColumn, &args)
	if err := table.Select(&ids, "SELECT r.id FROM rows r WHERE "+sql+" ORDER BY r.id", args...); err != nil {
		t.Fatalf("%s\n%s\n%v", filter, sql, err)
	}
	return ids
}
