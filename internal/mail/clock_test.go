package mail_test

import (
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// A clock that was a day ahead is set right: what was done meanwhile seems to
// lie in the future.
func TestAClockThatIsSetBackHoldsNoMailUp(t *testing.T) {
	t.Parallel()
	digest := domain.Digest{Wait: 30 * time.Second, HourlyCap: 1, MaxEntries: 9}
	for name, before := range map[string]func(*fixture){
		"before the alert is mailed": func(*fixture) {},
		"after a mail was made": func(f *fixture) {
			f.pass(31 * time.Second)
			fatal.If(f.t, f.outbox.Gather(t.Context(), 1, digest))
		},
		"while a worker has the mail": func(f *fixture) {
			f.pass(31 * time.Second)
			fatal.If(f.t, f.outbox.Gather(t.Context(), 1, digest))
			_, err := f.outbox.Claim(t.Context(), 1, digest, 9, time.Minute)
			fatal.If(f.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, nil)
			f := newFixture(t, server)
			f.pass(24 * time.Hour)
			f.fire(100, 2000)
			before(f)
			f.pass(-24 * time.Hour)
			f.round(sent)
		})
	}
}

// Processes share the outbox, and no two clocks are the same.
func TestAClockThatIsALittleAheadSparesNobodyTheDigest(t *testing.T) {
	t.Parallel()
	digest := domain.Digest{Wait: 30 * time.Second, HourlyCap: 9, MaxEntries: 9}
	f := newFixture(t, nil)
	f.pass(2 * time.Second)
	f.fire(100, 2000)
	f.pass(-2 * time.Second)
	companies, err := f.outbox.Pending(t.Context(), digest)
	fatal.If(f.t, err)
	fatal.If(f.t, f.outbox.Gather(t.Context(), 1, digest))
	if states := f.states(); len(states) > 0 || len(companies) > 0 {
		t.Errorf("before the alert has waited for others there are %v to send, pending for %v", states, companies)
	}
	f.pass(33 * time.Second)
	fatal.If(f.t, f.outbox.Gather(t.Context(), 1, digest))
	if states := f.states(); len(states) != 1 {
		t.Errorf("after it has waited there are %v", states)
	}
}

func TestAMailThatIsBeingSentIsNotHandedOutAgain(t *testing.T) {
	t.Parallel()
	digest := domain.Digest{Wait: time.Second, HourlyCap: 9, MaxEntries: 9}
	f := newFixture(t, nil)
	f.fire(100, 2000)
	f.pass(2 * time.Second)
	fatal.If(f.t, f.outbox.Gather(t.Context(), 1, digest))
	const longest = 2 * 30 * time.Minute // the lease of a worker whose attempts take the longest that they may
	for _, want := range []int{1, 0} {
		contents, err := f.outbox.Claim(t.Context(), 1, digest, 9, longest)
		fatal.If(f.t, err)
		if len(contents) != want {
			t.Errorf("%d mails were handed out, want %d", len(contents), want)
		}
	}
}
