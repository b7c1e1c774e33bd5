package demo

import "math/rand/v2"

// Each thing about a device has random numbers of its own, so that it does not
// hang on how many another thing took.
const (
	aboutContract uint64 = iota + 1
	aboutState
	aboutTags
	aboutUsage
)

// random returns the numbers about one thing of one device. Only whole numbers
// are drawn: floating point differs between processors.
func (o Options) random(device int, about uint64) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, about<<56|uint64(device)))
}

// weighted picks an index with the odds of its weight.
func weighted(r *rand.Rand, weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	at := r.IntN(total)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// percent is true that often of a hundred times.
func percent(r *rand.Rand, n int) bool { return r.IntN(100) < n }

// about scatters a number of bytes between a quarter and seven quarters of it.
func about(r *rand.Rand, bytes int64) int64 { return bytes/4 + r.Int64N(bytes*3/2+1) }
