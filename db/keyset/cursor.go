package keyset

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Cursor is where a page of an ordered list ended: the values of its keys in
// that row, as text, nil for NULL. The last value is that of the unique key.
type Cursor struct {
	Order  string    `json:"o,omitempty"`
	Values []*string `json:"v"`
}

func (c Cursor) String() string {
	text, _ := json.Marshal(c) // strings always marshal
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor refuses what is no cursor of a list with that order and keys.
func parseCursor(page domain.Page, order string, keys []listKey) (Cursor, error) {
	var c Cursor
	field := "after"
	if page.Backward {
		field = "before"
	}
	raw, err := base64.RawURLEncoding.DecodeString(page.Cursor)
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return c, domain.Invalid(field, "this is not a cursor of a list")
	}
	if c.Order != order || len(c.Values) != len(keys) {
		return c, domain.Invalid(field, "this cursor belongs to a list in another order")
	}
	for i, k := range keys {
		if !k.reads(c.Values[i]) {
			return c, domain.Invalid(field, "this is not a cursor of a list")
		}
	}
	return c, nil
}

// reads reports whether PostgreSQL can read the text as a value of the key.
func (k listKey) reads(value *string) bool {
	if value == nil {
		return k.nullable()
	}
	if k.Column.UUID {
		return pg.IsUUID(*value)
	}
	var err error
	switch k.Field.Type {
	case query.Integer:
		_, err = strconv.ParseInt(*value, 10, 64)
	case query.Number:
		return isDecimal(*value)
	case query.Boolean:
		_, err = strconv.ParseBool(*value)
	case query.Time:
		at, wrong := time.Parse(CursorTime, *value)
		return wrong == nil && at.Year() > 0 && at.Format(CursorTime) == *value
	default:
		return !strings.ContainsRune(*value, 0)
	}
	return err == nil
}

// CursorTime is how listKey.text has PostgreSQL write times.
const CursorTime = "2006-01-02T15:04:05.000000Z"

// longestDecimal is more than numbers of lists have.
const longestDecimal = 64

// isDecimal refuses exponents, hexadecimals and infinities, of which Go and
// PostgreSQL do not read the same ones.
func isDecimal(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && len(text) <= longestDecimal && strings.Trim(text, "-.0123456789") == ""
}
