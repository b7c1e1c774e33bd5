package pg

import (
	"fmt"
	"strings"
)

// TextList is an array of texts without NULL, of one dimension. An empty array
// and NULL are nil.
type TextList[T ~string] []T

// Scan implements sql.Scanner. The texts share the memory of one.
func (l *TextList[T]) Scan(v any) error {
	switch v := v.(type) {
	case []byte:
		return l.read(string(v))
	case string:
		return l.read(v)
	case nil:
		*l = nil
		return nil
	}
	return l.read("")
}

func (l *TextList[T]) read(array string) error {
	body, opened := strings.CutPrefix(array, "{")
	body, closed := strings.CutSuffix(body, "}")
	if !opened || !closed {
		return fmt.Errorf("%.100q is no array of texts", array)
	}
	*l = nil
	if body != "" {
		*l = make([]T, 0, 1+strings.Count(body, ","))
	}
	for body != "" {
		var text string
		var err error
		if text, body, err = nextText(body); err != nil {
			return err
		}
		*l = append(*l, T(text))
	}
	return nil
}

// nextText cuts the first text off the elements of an array, as PostgreSQL prints
// them: those with signs of the syntax, and the word NULL, stand in quotes.
func nextText(elements string) (text, rest string, err error) {
	if elements[0] == '"' {
		return nextQuoted(elements)
	}
	text, rest, more := strings.Cut(elements, ",")
	if text == "" || text == "NULL" || strings.ContainsAny(text, `{}"\`) || more && rest == "" {
		return "", "", fmt.Errorf("%.100q are no texts of an array", elements)
	}
	return text, rest, nil
}

// quoting is strings.IndexAny for the signs of quoted texts, which are short.
func quoting(text string) int {
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			return i
		}
	}
	return -1
}

func nextQuoted(elements string) (text, rest string, err error) {
	from := elements[1:]
	for {
		sign := quoting(from)
		if sign < 0 || from[sign] == '\\' && sign+1 == len(from) {
			return "", "", fmt.Errorf("%.100q does not end its quotes", elements)
		}
		if from[sign] == '"' {
			text, from = text+from[:sign], from[sign+1:]
			break
		}
		text, from = text+from[:sign]+from[sign+1:sign+2], from[sign+2:]
	}
	rest, more := strings.CutPrefix(from, ",")
	if more != (rest != "") {
		return "", "", fmt.Errorf("%.100q are no texts of an array", elements)
	}
	return text, rest, nil
}
