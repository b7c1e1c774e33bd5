package domain_test

import (
	"math"
	"testing"
	"time"

	"simgraph/domain"
)

func TestTariffsAndContractsFitTheirColumns(t *testing.T) {
	t.Parallel()
	for fee, fits := range map[int]bool{-1: false, 0: true, math.MaxInt32: true, math.MaxInt32 + 1: false} {
		tariff := domain.Tariff{Name: "IoT", LineRental: fee, Currency: "GBP"}
		if err := tariff.Check(); (err == nil) != fits {
			t.Errorf("a line rental of %d: %v", fee, err)
		}
	}
	for currency, fits := range map[string]bool{"GBP": true, "GB": false, "GBPX": false, "gbp": false, "G8P": false} {
		tariff := domain.Tariff{Name: "IoT", Currency: currency}
		if err := tariff.Check(); (err == nil) != fits {
			t.Errorf("the currency %s: %v", currency, err)
		}
	}
}

func TestARecordOfASubscriberMayReachItsBounds(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		spoil func(s *domain.Subscriber)
		field string // "" where it fits
	}{
		"as it is":                  {func(*domain.Subscriber) {}, ""},
		"expires with its begin":    {func(s *domain.Subscriber) { s.ExpiryDate = begin }, ""},
		"expires before its begin":  {func(s *domain.Subscriber) { s.ExpiryDate = begin.Add(-1) }, "expiryDate"},
		"a profile on another":      {func(s *domain.Subscriber) { s.ParentPhysicalID, s.IsEnabledOnParent = new("p2"), new(true) }, ""},
		"a profile on itself":       {func(s *domain.Subscriber) { s.ParentPhysicalID, s.IsEnabledOnParent = new("p1"), new(true) }, "parent"},
		"enabled is not known":      {func(s *domain.Subscriber) { s.ParentPhysicalID = new("p2") }, "parent"},
		"the longest contract":      {func(s *domain.Subscriber) { s.ContractLength = new(math.MaxInt32) }, ""},
		"a contract that is longer": {func(s *domain.Subscriber) { s.ContractLength = new(math.MaxInt32 + 1) }, "contractLength"},
	} {
		s := domain.Subscriber{
			Kind: domain.Cellular, SubscriberType: domain.Physical, PhysicalID: "p1", SubscriberID: "s1", OperatorCode: "23410",
			TariffName: new("IoT"), ContractLength: new(0), ConnectionDate: begin, ExpiryDate: begin.AddDate(1, 0, 0),
		}
		c.spoil(&s)
		err := s.Check()
		fault, _ := domain.AsError(err)
		if (err == nil) != (c.field == "") || fault != nil && fault.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
