package command_test

import (
	"strings"
	"testing"

	"simgraph/internal/command"
)

// What Citus does with a database is tested in test/scaleout.
func TestADatabaseWithoutCitusIsNotDistributed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	if err := (command.MigrateStatus{}).Run(c.Context(), c.env); err != nil || !strings.HasSuffix(c.stdout.String(), "\ndistribution: none, the database has no extension citus\n") {
		t.Errorf("the status is %s, %v", c.stdout.String(), err)
	}
	err := (command.MigrateDistribute{}).Run(c.Context(), c.env)
	if err == nil || !strings.Contains(err.Error(), "has no extension citus: install Citus on every node") {
		t.Errorf("the error is %v", err)
	}
}
