package pg_test

import (
	"slices"
	"testing"

	"simgraph/db/pg"
)

func TestOnlyUUIDsInTheWritingOfPostgreSQLAreKept(t *testing.T) {
	t.Parallel()
	const id = "01a212e1-ee66-77a9-87d1-87a8a1ee0863"
	texts := []string{id, "01A212E1-EE66-77A9-87D1-87A8A1EE0863", "{" + id + "}", "01a212e1ee6677a987d187a8a1ee0863", "urn:uuid:" + id, "", "1"}
	if ids := pg.UUIDs(texts); !slices.Equal(ids, []string{id}) {
		t.Errorf("kept %q", ids)
	}
	if pg.UUIDs(nil) == nil {
		t.Error("an array is nil, which is NULL in a statement")
	}
}
