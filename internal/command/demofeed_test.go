package command

import (
	"testing"
	"time"

	"simgraph/domain/condition"
)

// The gateway that fails is named while it does: a minute passes until it had reported last,
// and another until conditions are evaluated.
func TestTheDemoNamesItsFailingGatewayWhileItFails(t *testing.T) {
	t.Parallel()
	if noticed := demoSilence*time.Minute + 2*time.Minute; noticed >= demoFails {
		t.Errorf("it is named after %v, and fails for %v", noticed, demoFails)
	}
	of := condition.Condition{Kind: condition.SourceSilent, Bound: demoSilence}
	if err := of.Check(); err != nil {
		t.Error(err)
	}
}
