package flight

// Kept returns how many keys a group remembers.
func Kept[K comparable, C, R any](g *Group[K, C, R]) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.keys)
}
