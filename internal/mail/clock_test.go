package mail_test

import (
	"testing"
	"time"

	"simgraph/domain"
)

// A clock that was a day ahead is set right: what was done meanwhile seems to
// lie in the future.
func TestAClockThatIsSetBackHoldsNoMailUp(t *testing.T) {
	t.Parallel()
	digest := domain.Digest{Wait: 30 * time.Second, HourlyCap: 1, MaxEntries: 9}
	for name, before := range map[string]func(*office){
		"before the alert is mailed": func(*office) {},
		"after a mail was made": func(o *office) {
			o.pass(31 * time.Second)
			o.must(o.outbox.Gather(t.Context(), 1, digest))
		},
		"while a worker has the mail": func(o *office) {
			o.pass(31 * time.Second)
			o.must(o.outbox.Gather(t.Context(), 1, digest))
			_, err := o.outbox.Claim(t.Context(), 1, digest, 9, time.Minute)
			o.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, nil)
			o := newOffice(t, server)
			o.pass(24 * time.Hour)
			o.fire(100, 2000)
			before(o)
			o.pass(-24 * time.Hour)
			o.start()
			o.untilStates("ops@acme.example alerts sent")
		})
	}
}

// Processes share the outbox, and no two clocks are the same.
func TestAClockThatIsALittleAheadSparesNobodyTheDigest(t *testing.T) {
	t.Parallel()
	digest := domain.Digest{Wait: 30 * time.Second, HourlyCap: 9, MaxEntries: 9}
	o := newOffice(t, nil)
	o.pass(2 * time.Second)
	o.fire(100, 2000)
	o.pass(-2 * time.Second)
	companies, err := o.outbox.Pending(t.Context(), digest)
	o.must(err)
	o.must(o.outbox.Gather(t.Context(), 1, digest))
	if states := o.states(); len(states) > 0 || len(companies) > 0 {
		t.Errorf("before the alert has waited for others there are %v to send, pending for %v", states, companies)
	}
	o.pass(33 * time.Second)
	o.must(o.outbox.Gather(t.Context(), 1, digest))
	if states := o.states(); len(states) != 1 {
		t.Errorf("after it has waited there are %v", states)
	}
}

func TestAMailThatIsBeingSentIsNotHandedOutAgain(t *testing.T) {
	t.Parallel()
	digest := domain.Digest{Wait: time.Second, HourlyCap: 9, MaxEntries: 9}
	o := newOffice(t, nil)
	o.fire(100, 2000)
	o.pass(2 * time.Second)
	o.must(o.outbox.Gather(t.Context(), 1, digest))
	const longest = 2 * 30 * time.Minute // the lease of a worker whose attempts take the longest that they may
	for _, want := range []int{1, 0} {
		letters, err := o.outbox.Claim(t.Context(), 1, digest, 9, longest)
		o.must(err)
		if len(letters) != want {
			t.Errorf("%d mails were handed out, want %d", len(letters), want)
		}
	}
}
