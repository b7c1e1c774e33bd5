package resolvers

import (
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestACompanyHasTwoPreviewsAtATime(t *testing.T) {
	t.Parallel()
	var of previews
	first, err := of.begin(t.Context(), 1, time.Hour)
	fatal.If(t, err)
	second, err := of.begin(t.Context(), 1, time.Hour)
	fatal.If(t, err)
	_, err = of.begin(t.Context(), 1, time.Millisecond)
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindRateLimited || fault.RetrySeconds() != 1 {
		t.Errorf("a third: %v", err)
	}
	other, err := of.begin(t.Context(), 2, time.Millisecond)
	if err != nil {
		t.Errorf("of another company: %v", err)
	}
	first()
	third, err := of.begin(t.Context(), 1, time.Millisecond)
	if err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	for _, end := range []func(){second, third, other} {
		end()
	}
	if len(of.used) != 0 {
		t.Errorf("%d companies are kept", len(of.used))
	}
}
