package pg

import "github.com/lib/pq"

// Is returns the operator and the argument that compare a column with keys:
// column operator (parameter). One key is compared alone, since PostgreSQL keeps
// the plan of such a statement and makes a new one for every array.
func Is[K int64 | string](keys []K) (operator string, arg any) {
	if len(keys) == 1 {
		return "=", keys[0]
	}
	switch keys := any(keys).(type) {
	case []int64:
		return "= ANY", pq.Int64Array(keys)
	default:
		return "= ANY", pq.Array(keys)
	}
}
