package scalar

// Checks returns, by the name of the scalar in the schema, functions that return
// why a raw input value is none of that scalar, or nil.
func Checks() map[string]func(any) error {
	return map[string]func(any) error{
		"DateTime": check(UnmarshalDateTime),
		"BigInt":   check(UnmarshalBigInt),
	}
}

func check[T any](unmarshal func(any) (T, error)) func(any) error {
	return func(v any) error {
		_, err := unmarshal(v)
		return err
	}
}
