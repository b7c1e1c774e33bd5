package condition

// Bound has a turn learn from so many reports, and a preview read so many.
func (s *Store) Bound(changesAtOnce, maxReports int) {
	s.changesAtOnce, s.maxReports = changesAtOnce, maxReports
}
