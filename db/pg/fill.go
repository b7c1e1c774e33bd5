package pg

import (
	"slices"
	"strings"
)

// Fill replaces names in braces: fill(sql, "name", value, …).
func Fill(sql string, values ...string) string {
	return FillBy(sql, func(name string) (string, bool) { return ValueOf(name, values) })
}

// FillBy replaces the names in braces that have a value.
func FillBy(sql string, value func(name string) (string, bool)) string {
	if !strings.Contains(sql, "{") {
		return sql
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(sql, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, _ := strings.Cut(after, "}")
		if text, named := value(name); named {
			b.WriteString(text)
			sql = rest
		} else {
			b.WriteByte('{')
			sql = after
		}
	}
}

// ValueOf returns the value that stands behind the name in values: name, value, ….
func ValueOf(name string, values []string) (value string, named bool) {
	for pair := range slices.Chunk(values, 2) {
		if pair[0] == name {
			return pair[1], true
		}
	}
	return "", false
}
