package profile

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain"
)

// decode returns the object that well-formed JSON holds, as json.Unmarshal does, but for
// numbers: whole ones of 64 bits are int64, since a float would round long ids. Texts are
// parts of the given one, which saves half of the time.
func decode(text string) (map[string]any, error) {
	d := decoder{text: text}
	value, err := d.value()
	if err != nil {
		return nil, err
	}
	object, _ := value.(map[string]any)
	if object == nil {
		return nil, errNoObject
	}
	return object, nil
}

var (
	errNoObject = domain.Invalid("", "the record is no JSON object")
	errTooDeep  = domain.Invalid("", "the record is nested deeper than %d levels", maxDepth)
)

// decoder goes over well-formed JSON.
type decoder struct {
	text      string
	at, depth int
}

// next goes to the next byte that is no blank.
func (d *decoder) next() byte {
	for {
		switch b := d.text[d.at]; b {
		case ' ', '\t', '\r', '\n':
			d.at++
		default:
			return b
		}
	}
}

func (d *decoder) value() (any, error) {
	switch d.next() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.quoted()
	case 't':
		d.at += len("true")
		return true, nil
	case 'f':
		d.at += len("false")
		return false, nil
	case 'n':
		d.at += len("null")
		return nil, nil
	}
	return d.number()
}

func (d *decoder) deeper() error {
	d.at++
	if d.depth++; d.depth > maxDepth {
		return errTooDeep
	}
	return nil
}

// more reports whether an object or array goes on, which it leaves where it does not.
func (d *decoder) more(end byte) bool {
	if d.next() == ',' {
		d.at++
		return true
	}
	if d.text[d.at] != end {
		return true // it is the first
	}
	d.at++
	d.depth--
	return false
}

func (d *decoder) object() (any, error) {
	const few = 8
	object := make(map[string]any, few)
	if err := d.deeper(); err != nil {
		return nil, err
	}
	for d.more('}') {
		d.next()
		key, err := d.quoted()
		if err != nil {
			return nil, err
		}
		d.next()
		d.at++ // the colon
		if object[key], err = d.value(); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (d *decoder) array() (any, error) {
	array := []any{}
	if err := d.deeper(); err != nil {
		return nil, err
	}
	for d.more(']') {
		value, err := d.value()
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	return array, nil
}

func (d *decoder) quoted() (string, error) {
	from := d.at + 1
	end := strings.IndexByte(d.text[from:], '"') + from
	if !strings.Contains(d.text[from:end], `\`) {
		d.at = end + 1
		return d.text[from:end], nil
	}
	for end = from; d.text[end] != '"'; end++ {
		if d.text[end] == '\\' {
			end++
		}
	}
	d.at = end + 1
	plain, err := jsontext.AppendUnquote(nil, d.text[from-1:d.at])
	return string(plain), err
}

func (d *decoder) number() (any, error) {
	from := d.at
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789eE", d.text[d.at]) >= 0 {
		d.at++
	}
	text := d.text[from:d.at]
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errNoObject
	}
	return f, nil
}
