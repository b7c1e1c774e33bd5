package db

import "time"

// Names for the tests of package db_test.

// Impatient gives up soon on locks that others hold.
func (m *Migrations) Impatient(wait, pause time.Duration, attempts int) *Migrations {
	m.patience = lockPatience{lock: wait, pause: pause, attempts: attempts, turns: 1}
	return m
}
