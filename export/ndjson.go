package export

import (
	"encoding/json"
	"strconv"
)

// ndjsonEncoder writes a line of JSON for each row. The first line has the only field export,
// the last one end.
type ndjsonEncoder struct {
	*output
	columns []column
	// keys are what stands before the value of each column.
	keys []string
}

func newNDJSON(out *output, columns []column) *ndjsonEncoder {
	e := &ndjsonEncoder{output: out, columns: columns}
	for i, c := range columns {
		key := strconv.Quote(c.name) + ":"
		if i > 0 {
			key = "," + key
		}
		e.keys = append(e.keys, key)
	}
	return e
}

func (e *ndjsonEncoder) begin(of header) error {
	return e.line(struct {
		Export header `json:"export"`
	}{of})
}

func (e *ndjsonEncoder) line(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	e.buffer = append(append(e.buffer, line...), '\n')
	return e.flush()
}

func (e *ndjsonEncoder) row(cells []cell) error {
	e.buffer = append(e.buffer, '{')
	for i := range e.columns {
		e.buffer = append(e.buffer, e.keys[i]...)
		e.value(e.columns[i].kind, &cells[i])
	}
	e.buffer = append(e.buffer, '}', '\n')
	return e.flushWhenFull()
}

func (e *ndjsonEncoder) value(of kind, c *cell) {
	switch {
	case c.isNull:
		e.buffer = append(e.buffer, "null"...)
	case of == integer:
		e.buffer = strconv.AppendInt(e.buffer, c.number, 10)
	case of == boolean:
		e.buffer = strconv.AppendBool(e.buffer, c.number == 1)
	case of == moment:
		e.buffer = append(appendMoment(append(e.buffer, '"'), c.number), '"')
	case of == texts && len(c.list) == 0:
		e.buffer = append(e.buffer, "[]"...)
	case of == texts:
		list, _ := json.Marshal(c.list) // texts always marshal
		e.buffer = append(e.buffer, list...)
	case of == document:
		e.buffer = append(e.buffer, c.text...)
	default:
		e.buffer = appendText(e.buffer, c.text)
	}
}

// appendText writes a text as JSON.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		if b := text[i]; b < ' ' || b == '"' || b == '\\' || b >= 0x7f {
			quoted, _ := json.Marshal(text) // texts always marshal
			return append(to, quoted...)
		}
	}
	to = append(append(to, '"'), text...)
	return append(to, '"')
}

func (e *ndjsonEncoder) end(s Summary) error {
	return e.line(struct {
		End Summary `json:"end"`
	}{s})
}
