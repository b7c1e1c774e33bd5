package limit

import "sync"

// Counts bound what each key has open at a time. A nil *Counts refuses nothing.
type Counts struct {
	most int

	mu   sync.Mutex
	open map[string]int
}

// NewCounts returns counts of at most that many for each key; nil for 0, which
// stands for no limit.
func NewCounts(most int) *Counts {
	if most <= 0 {
		return nil
	}
	return &Counts{most: most, open: map[string]int{}}
}

// Enter counts one more for the key until leave is called, which may be called
// again. It reports false when the key has as many as it may.
func (c *Counts) Enter(key string) (leave func(), ok bool) {
	if c == nil {
		return func() {}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key] >= c.most {
		return nil, false
	}
	c.open[key]++
	return sync.OnceFunc(func() { c.leave(key) }), true
}

func (c *Counts) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key]--; c.open[key] == 0 {
		delete(c.open, key)
	}
}
