package scalar

import "errors"

// Checks returns, by the name of the scalar in the schema, functions that return
// why a raw input value is none of that scalar, or nil.
func Checks() map[string]func(any) error {
	return map[string]func(any) error{
		"DateTime": check(UnmarshalDateTime),
		"BigInt":   check(UnmarshalBigInt),
		"_Any":     representation,
	}
}

// representation refuses what is no object; what it must hold is known by its type.
func representation(v any) error {
	if _, isObject := v.(map[string]any); !isObject {
		return errors.New("expected an object with a __typename")
	}
	return nil
}

func check[T any](unmarshal func(any) (T, error)) func(any) error {
	return func(v any) error {
		_, err := unmarshal(v)
		return err
	}
}
