package audit

// Bound has so many entries read and removed at once.
func (a *Log) Bound(read, pruned int) { a.read, a.pruned = read, pruned }
