package domain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Each test changes one field of a session that is accepted.
func TestASessionOfABundleIsChecked(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	early := began.Add(-time.Second)
	for field, change := range map[string]func(*domain.SessionImport){
		"source":           func(s *domain.SessionImport) { s.Source = strings.Repeat("s", 1000) },
		"mobileOriginated": func(s *domain.SessionImport) { s.MobileOriginated = -1 },
		"mobileTerminated": func(s *domain.SessionImport) { s.MobileTerminated = -1 },
		"apn":              func(s *domain.SessionImport) { s.APN = strings.Repeat("a", 1000) },
		"cell":             func(s *domain.SessionImport) { s.Cell = "ECGI 23415" },
		"visitedNetwork":   func(s *domain.SessionImport) { s.VisitedNetwork = "\x00" },
		"sessionId":        func(s *domain.SessionImport) { s.SessionID = "" },
		"generation":       func(s *domain.SessionImport) { s.Generation = 1_000_001 },
		"asOf":             func(s *domain.SessionImport) { s.AsOf = early },
		"reports":          func(s *domain.SessionImport) { s.Reports = 0 },
		"records":          func(s *domain.SessionImport) { s.Counter.Booked = -1 },
		"intervalSeconds":  func(s *domain.SessionImport) { s.IntervalSeconds = 1 << 31 },
		"endedAt":          func(s *domain.SessionImport) { s.EndedAt = &early },
		"physicalId":       func(s *domain.SessionImport) { s.Subscriber = "\x00" },
	} {
		s := importedSession(began)
		fatal.If(t, s.Check())
		change(s)
		var refused *domain.Error
		if err := s.Check(); !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func importedSession(began time.Time) *domain.SessionImport {
	s := &domain.SessionImport{Subscriber: "8944500102030405067"}
	s.Source, s.PhysicalID, s.SessionID = "pgw", s.Subscriber, "1"
	s.BeganAt, s.AsOf, s.Reports = began, began, 1
	s.Generation, s.IntervalSeconds = 1_000_000, 1<<31-1
	return s
}
