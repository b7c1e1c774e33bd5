// Package fatal ends tests that cannot go on.
package fatal

// Test is a *testing.T, or what has its methods, such as a *rapid.T.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// If ends the test unless err is nil.
func If(t Test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
