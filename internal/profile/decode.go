package profile

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain"
)

var (
	errNoObject = domain.Invalid("", "the record is no JSON object")
	errTooDeep  = domain.Invalid("", "the record is nested deeper than %d levels", maxDepth)
)

// decode returns the object that well-formed JSON holds. Whole numbers of 64 bits are int64.
func decode(text string) (map[string]any, error) {
	if depth(text) > maxDepth {
		return nil, errTooDeep
	}
	var record map[string]any
	if err := json.Unmarshal([]byte(text), &record, wholeNumbers); err != nil || record == nil {
		return nil, errNoObject
	}
	return record, nil
}

// wholeNumbers keeps ids of 64 bits, which a float would round.
var wholeNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, value *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported // as it is otherwise
	}
	number, err := d.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		*value = n
		return nil
	}
	f, err := strconv.ParseFloat(string(number), 64)
	*value = f
	return err
}))

// depth is how deep well-formed JSON is nested.
func depth(text string) (most int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if now++; now > most {
				most = now
			}
		case b == '}' || b == ']':
			now--
		}
	}
	return most
}
