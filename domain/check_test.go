package domain_test

import (
	"math"
	"testing"

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
