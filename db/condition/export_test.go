package condition

// Bound has a turn learn from so many reports, and a preview read so many.
func (s *Store) Bound(changesAtOnce, maxReports int) {
	s.changesAtOnce, s.maxReports = changesAtOnce, maxReports
}

// BoundForecasts has a turn forecast the usage of so many subscribers.
func (s *Store) BoundForecasts(atOnce int) { s.forecastsAtOnce = atOnce }

// BoundEntries has a turn write so many entries of an alert.
func (s *Store) BoundEntries(atOnce int) { s.entriesAtOnce = atOnce }
