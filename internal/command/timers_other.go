//go:build !linux

package command

// SlackenTimers does nothing: only Linux has a slack of timers.
func SlackenTimers() {}
