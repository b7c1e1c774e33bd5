package retention_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"simgraph/domain/retention"
)

// Any order of settings, upkeeps and waits: what is in force never gets shorter before
// a shorter one was announced and has waited, and a longer one holds at once.
func TestNothingIsEverDeletedByARetentionThatHasNotWaited(t *testing.T) {
	t.Parallel()
	const notice = 24 * time.Hour
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var history retention.History
		clock := time.Unix(0, 0).UTC()
		announced := time.Time{}
		for range 60 {
			before := history.InForce()
			switch random.IntN(3) {
			case 0:
				kept := random.IntN(5)
				if change := history.Set(kept); change.Add || change.Withdraw {
					announced = time.Time{}
				}
				history = apply(history, kept, clock)
				if retention.Shorter(history.InForce(), before) {
					t.Fatalf("seed %d: setting %d made %d of %d at once", seed, kept, history.InForce(), before)
				}
				if !retention.Shorter(kept, before) && history.InForce() != kept {
					t.Fatalf("seed %d: %d does not hold at once after %d", seed, kept, before)
				}
				if wanted, set := history.Wanted(); !set || wanted != kept {
					t.Fatalf("seed %d: %d is wanted after %d was set", seed, wanted, kept)
				}
			case 1:
				clock = clock.Add(time.Duration(random.Int64N(int64(2 * notice))))
			case 2:
				pending, _ := history.Pending()
				switch history.Next(clock, notice) {
				case retention.Announce:
					announced = clock
					last := &history[len(history)-1]
					last.AnnouncedAt, last.Waited = clock, clock
				case retention.TakeEffect:
					if announced.IsZero() || clock.Sub(announced) < notice {
						t.Fatalf("seed %d: %d took effect %v after it was announced", seed, pending.Kept, clock.Sub(announced))
					}
					history[len(history)-1].EffectiveAt = clock
				}
			}
		}
	}
}

// apply does what a store does.
func apply(history retention.History, kept int, at time.Time) retention.History {
	change := history.Set(kept)
	if change.Withdraw {
		history[len(history)-1].WithdrawnAt = at.Add(time.Nanosecond)
	}
	if change.Add {
		setting := retention.Setting{Revision: len(history) + 1, Kept: kept, SetAt: at}
		if change.AtOnce {
			setting.EffectiveAt = at.Add(time.Nanosecond)
		}
		history = append(history, setting)
	}
	return history
}

func TestAMomentOfAnotherKindDeletesNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, kind := range retention.Kinds {
		expired, expires := retention.InForce{Kind: kind, Kept: 10}.Expired(now)
		if !expires {
			t.Errorf("%s do not expire", kind.Name)
		}
		for _, other := range retention.Kinds {
			want := time.Time{}
			if other.Name == kind.Name {
				want = now.AddDate(0, 0, -10)
				if kind.Unit == retention.Months {
					want = now.AddDate(0, -10, 0)
				}
			}
			if got := expired.Before(other.Name); !got.Equal(want) {
				t.Errorf("what expires of %s is deleted of %s before %v", kind.Name, other.Name, got)
			}
		}
		if _, expires := (retention.InForce{Kind: kind}).Expired(now); expires {
			t.Errorf("%s expire, though they are kept for ever", kind.Name)
		}
	}
}
