package access

// Names for the tests of package access_test.

// RefusalsCounted is how many counts the store remembers.
func RefusalsCounted(a *Store) int { return len(a.refused.counted) }
