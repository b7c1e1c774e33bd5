package rest

import (
	"bytes"
	"errors"
	"strconv"
)

// answer is what a response of the graph has for the caller.
type answer struct {
	// body is JSON; nil when the operation has none.
	body []byte
	// total is the length of the whole list, -1 when it is not known.
	total int
	// more reports that the list goes on after the cursor next.
	more bool
	next string
	// missing is what must be there and is not; nil else.
	missing *outline
}

var errShape = errors.New("the response does not have the shape of its operation")

// shape takes the answer out of a response's data in one pass over its bytes.
func (o *outline) shape(data []byte) (answer, error) {
	s := shaper{in: data, answer: answer{total: -1}}
	if err := s.seek(o); err != nil {
		return answer{}, err
	}
	return s.answer, nil
}

// shaper reads the JSON that the executor wrote: valid, and in the order of
// the selection. Anything else ends in errShape.
type shaper struct {
	in     []byte
	at     int
	out    []byte
	answer answer
}

// seek walks an object around the body, and takes what is marked there.
func (s *shaper) seek(o *outline) error {
	return s.object(func(key []byte, nth int) error {
		field := o.field(key, nth)
		if field == nil {
			return errShape
		}
		return s.take(field)
	})
}

func (s *shaper) take(o *outline) error {
	switch {
	case o.must && s.peek() == 'n':
		s.answer.missing = o
		_, err := s.skip()
		return err
	case o.body:
		s.out = make([]byte, 0, len(s.in))
		err := s.write(o)
		s.answer.body = s.out
		return err
	case o.total, o.more, o.next:
		value, err := s.skip()
		if err != nil {
			return err
		}
		return s.note(o, value)
	case o.found && s.peek() == '{':
		return s.seek(o)
	default:
		_, err := s.skip()
		return err
	}
}

func (s *shaper) note(o *outline, value []byte) (err error) {
	switch {
	case o.total:
		s.answer.total, err = strconv.Atoi(string(value))
	case o.more:
		s.answer.more = string(value) == "true"
	default:
		// A cursor is base64 text without escapes; null after the last page.
		s.answer.next = string(bytes.Trim(value, `"`))
	}
	return err
}

// write copies one value as its marks say.
func (s *shaper) write(o *outline) error {
	if !o.one {
		return s.value(o)
	}
	s.out = append(s.out, '[')
	err := s.value(o)
	s.out = append(s.out, ']')
	return err
}

func (s *shaper) value(o *outline) error {
	switch c := s.peek(); {
	case o.plain, c != '{' && c != '[':
		value, err := s.skip()
		s.leaf(o, value)
		return err
	case c == '[':
		return s.list(o)
	default:
		return s.fields(o)
	}
}

// leaf writes a value without fields. What it lowers and unquotes has no
// escapes: names of enums, and digits.
func (s *shaper) leaf(o *outline, value []byte) {
	if o.empty && string(value) == "null" {
		value = []byte(`""`)
	}
	if o.number {
		value = bytes.Trim(value, `"`)
	}
	start := len(s.out)
	s.out = append(s.out, value...)
	if !o.lower {
		return
	}
	for i, c := range s.out[start:] {
		if 'A' <= c && c <= 'Z' {
			s.out[start+i] = c + 'a' - 'A'
		}
	}
}

func (s *shaper) list(o *outline) error {
	s.at++
	s.out = append(s.out, '[')
	for n := 0; ; n++ {
		switch s.peek() {
		case ']':
			s.at++
			s.out = append(s.out, ']')
			return nil
		case ',':
			s.at++
			s.out = append(s.out, ',')
		case 0:
			return errShape
		}
		if err := s.value(o); err != nil {
			return err
		}
	}
}

func (s *shaper) fields(o *outline) error {
	s.out = append(s.out, '{')
	first := true
	err := s.object(func(key []byte, nth int) error {
		field := o.field(key, nth)
		if field == nil {
			return errShape
		}
		if field.absent && bytes.HasPrefix(s.in[s.at:], []byte("null")) {
			_, err := s.skip()
			return err
		}
		if !first {
			s.out = append(s.out, ',')
		}
		first = false
		s.out = append(append(append(s.out, '"'), key...), `":`...)
		return s.write(field)
	})
	s.out = append(s.out, '}')
	return err
}

// object calls visit at the value of each key; visit must read that value.
func (s *shaper) object(visit func(key []byte, nth int) error) error {
	if s.peek() != '{' {
		return errShape
	}
	s.at++
	for nth := 0; ; nth++ {
		switch s.peek() {
		case '}':
			s.at++
			return nil
		case ',':
			s.at++
		}
		key, err := s.skip()
		if err != nil || len(key) < 2 || s.peek() != ':' {
			return errShape
		}
		s.at++
		s.peek()
		if err := visit(key[1:len(key)-1], nth); err != nil {
			return err
		}
	}
}

// peek returns the next byte that is no blank; 0 at the end.
func (s *shaper) peek() byte {
	for ; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// skip passes one value and returns it.
func (s *shaper) skip() ([]byte, error) {
	s.peek()
	start, depth := s.at, 0
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case '"':
			s.text()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		default:
			s.literal(depth)
		}
		if depth <= 0 {
			break
		}
	}
	if depth != 0 || s.at == start {
		return nil, errShape
	}
	return s.in[start:s.at], nil
}

// text passes a string.
func (s *shaper) text() {
	for s.at++; s.at < len(s.in); s.at++ {
		switch s.in[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
	s.at = len(s.in)
}

// literal passes a number, true, false or null; inside of a value that is
// skipped as a whole, also what stands between.
func (s *shaper) literal(depth int) {
	for ; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; {
		case c == '"', c == '{', c == '[', c == '}', c == ']':
			return
		case depth == 0 && (c == ',' || c == ':' || c <= ' '):
			return
		}
	}
}
