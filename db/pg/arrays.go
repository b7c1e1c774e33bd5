package pg

import "github.com/lib/pq"

// Numbers are numbers as an array that is never NULL.
func Numbers(of []int64) pq.Int64Array { return append(pq.Int64Array{}, of...) }

// Texts are texts as an array that is never NULL.
func Texts[T ~string](of []T) pq.StringArray {
	return append(pq.StringArray{}, Pluck(of, func(text T) string { return string(text) })...)
}
