package domain_test

import (
	"net/netip"
	"testing"
	"time"

	"simgraph/domain"
)

// The bounds of a record: what stands on them is taken, what is beyond is not.
func TestARecordMayReachItsBounds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	oldest := time.Date(2025, 10, 1, 0, 0, 0, 0, time.UTC)
	const tebibyte = 1_099_511_627_776
	type spoil func(r *domain.UsageRecord)
	for name, c := range map[string]struct {
		field      string
		fits, over spoil
	}{
		"originated": {"mobileOriginated", func(r *domain.UsageRecord) { r.MobileOriginated = tebibyte }, func(r *domain.UsageRecord) { r.MobileOriginated = tebibyte + 1 }},
		"terminated": {"mobileTerminated", func(r *domain.UsageRecord) { r.MobileTerminated = tebibyte }, func(r *domain.UsageRecord) { r.MobileTerminated = tebibyte + 1 }},
		"nothing":    {"mobileOriginated", func(r *domain.UsageRecord) { r.MobileOriginated = 0 }, func(r *domain.UsageRecord) { r.MobileOriginated = -1 }},
		"sequence":   {"sequence", func(r *domain.UsageRecord) { r.Sequence = 1<<31 - 1 }, func(r *domain.UsageRecord) { r.Sequence = 1 << 31 }},
		"a moment":   {"endedAt", func(r *domain.UsageRecord) { r.EndedAt = r.StartedAt }, func(r *domain.UsageRecord) { r.EndedAt = r.StartedAt.Add(-1) }},
		"31 days": {"endedAt",
			func(r *domain.UsageRecord) { r.StartedAt = r.EndedAt.Add(-31 * 24 * time.Hour) },
			func(r *domain.UsageRecord) { r.StartedAt = r.EndedAt.Add(-31*24*time.Hour - 1) }},
		"the end in the future": {"endedAt",
			func(r *domain.UsageRecord) { r.EndedAt = now.Add(10 * time.Minute) },
			func(r *domain.UsageRecord) { r.EndedAt = now.Add(10*time.Minute + 1) }},
		"the start in the future": {"startedAt",
			func(r *domain.UsageRecord) { r.StartedAt = now.Add(10 * time.Minute); r.EndedAt = r.StartedAt },
			func(r *domain.UsageRecord) { r.StartedAt = now.Add(10*time.Minute + 1); r.EndedAt = r.StartedAt }},
		"the first of the ledger": {"startedAt",
			func(r *domain.UsageRecord) { r.StartedAt = oldest; r.EndedAt = oldest },
			func(r *domain.UsageRecord) { r.StartedAt = oldest.Add(-1); r.EndedAt = oldest }},
	} {
		record := func(spoil spoil) error {
			r := domain.UsageRecord{Source: "pgw", PhysicalID: "s1", Protocol: "TCP", StartedAt: now.Add(-time.Hour), EndedAt: now}
			spoil(&r)
			return r.Check(now, oldest)
		}
		if err := record(c.fits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if fault, is := domain.AsError(record(c.over)); !is || fault.Kind != domain.KindInvalid || fault.Field != c.field {
			t.Errorf("beyond %s: %v", name, fault)
		}
	}
}

func TestOneAddressHasOneWriting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "fe80::1%eth0": "fe80::1", "2001:db8::1": "2001:db8::1",
	} {
		r := domain.UsageRecord{IPAddress: netip.MustParseAddr(text)}
		if got := r.Normalize().IPAddress.String(); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	if (domain.UsageRecord{}).Normalize().IPAddress.IsValid() {
		t.Error("no address became one")
	}
}

func TestTimesAreHeldInMicrosecondsOfUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.FixedZone("", 3600))
	r := domain.UsageRecord{StartedAt: at, EndedAt: at}.Normalize()
	want := time.Date(2026, 11, 20, 11, 0, 0, 123_456_000, time.UTC)
	if r.StartedAt != want || r.EndedAt != want {
		t.Errorf("%v, %v", r.StartedAt, r.EndedAt)
	}
}
