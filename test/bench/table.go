package main

import (
	"fmt"
	"time"
)

func micros(d time.Duration) string {
	return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// ratio is "" where there is nothing to compare with, such as no /proc.
func ratio(of, to time.Duration) string {
	if to == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(of)/float64(to))
}
