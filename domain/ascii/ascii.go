// Package ascii folds the letters A to Z and no others. The folds of Unicode make texts
// equal that are not: U+212A, the sign of Kelvin, has the lower case k, and U+0130 in
// some languages i. What is compared after a fold is folded here.
package ascii

// Lower returns s with a to z for A to Z.
func Lower(s string) string { return mapped(s, lower) }

// Upper returns s with A to Z for a to z.
func Upper(s string) string { return mapped(s, upper) }

// mapped changes bytes: those of A to Z are no part of another character in UTF-8.
func mapped(s string, to func(byte) byte) string {
	for i := range len(s) {
		if to(s[i]) != s[i] {
			folded := []byte(s)
			for j := i; j < len(folded); j++ {
				folded[j] = to(folded[j])
			}
			return string(folded)
		}
	}
	return s
}

// EqualFold reports whether a and b differ in the case of A to Z at most.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
