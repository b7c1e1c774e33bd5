package resolvers

// Fields that can fail are nullable in the schema and marked @semanticNonNull:
// they are null only together with their error. These functions return what a
// port or a loader returned in that form.

// present returns a value of which the zero is an answer.
func present[T any](value T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &value, nil
}

// number returns a count as the graph's Int.
func number(n int, err error) (*int32, error) { return present(int32(n), err) }

// items returns a list that is empty where the loader has none.
func items[T any](list []T, err error) ([]T, error) {
	if list == nil && err == nil {
		list = []T{}
	}
	return list, err
}
