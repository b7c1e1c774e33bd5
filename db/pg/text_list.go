package pg

import "github.com/lib/pq"

// TextList is an array of texts without NULL, of one dimension. An empty array
// and NULL are nil.
type TextList[T ~string] []T

// Scan implements sql.Scanner.
func (l *TextList[T]) Scan(v any) error {
	var texts pq.StringArray
	if err := texts.Scan(v); err != nil {
		return err
	}
	*l = nil
	if len(texts) > 0 {
		*l = Pluck(texts, func(text string) T { return T(text) })
	}
	return nil
}
