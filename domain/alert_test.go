package domain_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

func TestAlertSpecsThatBreakARule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec  domain.AlertSpec
		field string
	}{
		{domain.AlertSpec{RuleType: domain.RuleSIM, Target: "447700900001"}, ""},
		{domain.AlertSpec{RuleType: domain.RuleSIM, Target: "x", LowerThreshold: math.MaxInt64, UpperThreshold: math.MaxInt64}, ""},
		{domain.AlertSpec{RuleType: domain.RuleSIM}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleSIM, Target: " "}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleSIM, Target: "a\x00"}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleCompany}, ""},
		{domain.AlertSpec{RuleType: domain.RuleCompany, Target: "12"}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleGroup, Target: "12"}, ""},
		{domain.AlertSpec{RuleType: domain.RuleGroup, Target: "+12"}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleGroupMember, Target: "0"}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleGroupMember, Target: "4294967296"}, "target"},
		{domain.AlertSpec{RuleType: domain.RuleGroupMember}, "target"},
		{domain.AlertSpec{RuleType: "SIM", Target: "x"}, "ruleType"},
		{domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: -1}, "lowerThreshold"},
		{domain.AlertSpec{RuleType: domain.RuleCompany, UpperThreshold: -1}, "upperThreshold"},
		{domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 2, UpperThreshold: 1}, "lowerThreshold"},
	} {
		field := ""
		if err, is := domain.AsError(c.spec.Check()); is {
			field = err.Field
		}
		if field != c.field {
			t.Errorf("%+v: fault in %q, want %q", c.spec, field, c.field)
		}
	}
}

func TestAnEditThatFitsNoAlertIsRefusedByItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		edit  domain.AlertEdit
		field string
	}{
		{domain.AlertEdit{}, ""},
		{domain.AlertEdit{LowerThreshold: new(int64(math.MaxInt64))}, ""},
		{domain.AlertEdit{UpperThreshold: new(int64(0))}, ""},
		{domain.AlertEdit{LowerThreshold: new(int64(-1))}, "lowerThreshold"},
		{domain.AlertEdit{UpperThreshold: new(int64(-1))}, "upperThreshold"},
		{domain.AlertEdit{LowerThreshold: new(int64(2)), UpperThreshold: new(int64(1))}, "lowerThreshold"},
	} {
		field := ""
		if err, is := domain.AsError(c.edit.Check()); is {
			field = err.Field
		}
		if field != c.field {
			t.Errorf("%+v: fault in %q, want %q", c.edit, field, c.field)
		}
	}
}

func TestAnEditIsCheckedAfterItIsMerged(t *testing.T) {
	t.Parallel()
	alert := &domain.VolumeAlert{LowerThreshold: 10, UpperThreshold: 20}
	for _, c := range []struct {
		edit         domain.AlertEdit
		lower, upper int64
		fails        bool
	}{
		{domain.AlertEdit{}, 10, 20, false},
		{domain.AlertEdit{LowerThreshold: new(int64(20))}, 20, 20, false},
		{domain.AlertEdit{LowerThreshold: new(int64(21))}, 21, 20, true},
		{domain.AlertEdit{UpperThreshold: new(int64(9))}, 10, 9, true},
		{domain.AlertEdit{LowerThreshold: new(int64(0)), UpperThreshold: new(int64(0))}, 0, 0, false},
	} {
		lower, upper, err := c.edit.Thresholds(alert)
		if lower != c.lower || upper != c.upper || (err != nil) != c.fails {
			t.Errorf("%+v: got %d, %d, %v", c.edit, lower, upper, err)
		}
	}
}

func TestAThresholdIsExceededOnceItHasFired(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		lowerSince, upperSince *time.Time
		all, lower, upper      domain.AlertStatus
	}{
		{nil, nil, domain.Armed, domain.Armed, domain.Armed},
		{&since, nil, domain.Fired, domain.Fired, domain.Armed},
		{nil, &since, domain.Fired, domain.Armed, domain.Fired},
	} {
		// Usage may have moved to another group since, so it does not count.
		state := &domain.VolumeAlertState{Alert: &domain.VolumeAlert{LowerThreshold: 0, UpperThreshold: 200}, Usage: 100, LowerSince: c.lowerSince, UpperSince: c.upperSince}
		lower, upper := state.Lower(), state.Upper()
		if state.Status() != c.all || lower.Status != c.lower || upper.Status != c.upper {
			t.Errorf("%+v: %s, %+v, %+v", c, state.Status(), lower, upper)
		}
		if lower.Since != c.lowerSince || lower.Percent != nil || upper.Since != c.upperSince || *upper.Percent != 50 {
			t.Errorf("%+v: %+v, %+v", c, lower, upper)
		}
	}
}

func TestWhatRemainsNeverOverflows(t *testing.T) {
	t.Parallel()
	state := &domain.VolumeAlertState{Alert: &domain.VolumeAlert{RuleType: domain.RuleCompany, LowerThreshold: 99, UpperThreshold: math.MaxInt64}}
	e := domain.Explain(state, true, nil)
	if *e.Lower.Remaining != 100 || *e.Upper.Remaining != math.MaxInt64 {
		t.Errorf("got %d and %d", *e.Lower.Remaining, *e.Upper.Remaining)
	}
	e = domain.Explain(state, false, nil)
	if e.Lower.Reason != domain.ReasonNotWatched || e.Lower.Remaining != nil || !strings.Contains(e.Lower.Text, "each subscriber of the company") {
		t.Errorf("got %+v", e.Lower)
	}
}
