package bulk

import (
	"slices"
	"time"

	"simgraph/domain"
)

// OneChoice is what is wrong with a start that names no subscribers, or names them in two ways.
const OneChoice = "exactly one of where, physicalIds, rows and all says which subscribers change"

// Check rejects a start that names no subscribers, or one of them twice, or breaks a
// rule of a change.
func (s *Start) Check(now time.Time) error {
	named := 0
	for _, given := range []bool{s.ByFilter, s.PhysicalIDs != nil, s.Rows != nil} {
		if given {
			named++
		}
	}
	if named != 1 {
		return domain.Invalid("where", "%s", OneChoice)
	}
	if !s.ByFilter && len(s.PhysicalIDs)+len(s.Rows) == 0 {
		return domain.Invalid("rows", "an operation has at least one subscriber")
	}
	if err := CheckTotal(len(s.PhysicalIDs) + len(s.Rows)); err != nil {
		return err
	}
	if err := s.Change.Check(now); err != nil {
		return Within("change", err)
	}
	if s.Rows == nil && s.Change.IsEmpty() {
		return domain.Invalid("change", "the change has nothing that changes")
	}
	return s.checkRows(now)
}

// Within is the error about an argument that holds what is at fault.
func Within(field string, err error) error {
	fault, is := domain.AsError(err)
	if !is {
		return err
	}
	within := *fault
	within.Field = field
	return &within
}

// CheckTotal rejects more subscribers than an operation has.
func CheckTotal(rows int) error {
	if rows > MaxRows {
		return domain.Invalid("where", "an operation has at most %d subscribers; narrow the filter, or start several", MaxRows)
	}
	return nil
}

func (s *Start) checkRows(now time.Time) error {
	seen := make(map[string]bool, len(s.PhysicalIDs)+len(s.Rows))
	for _, id := range s.PhysicalIDs {
		if err := checkOnce(seen, id); err != nil {
			return Within("physicalIds", err)
		}
	}
	for _, row := range s.Rows {
		if row.Fault != nil {
			continue
		}
		if err := checkOnce(seen, row.PhysicalID); err != nil {
			return Within("rows", err)
		}
		merged := row.Over(s.Change)
		if merged.IsEmpty() {
			return domain.Invalid("rows", "the row of %q has nothing that changes", row.PhysicalID)
		}
		if err := merged.Check(now); err != nil {
			return Within("rows", err)
		}
	}
	return nil
}

func checkOnce(seen map[string]bool, physicalID string) error {
	if err := domain.CheckPhysicalID(physicalID); err != nil {
		return err
	}
	if seen[physicalID] {
		return domain.Invalid("physicalId", "%q is named twice", physicalID)
	}
	seen[physicalID] = true
	return nil
}

// CheckExpected rejects another number of subscribers than was expected, and a run
// for many without an expectation.
func (s *Start) CheckExpected(total int) error {
	switch {
	case total == 0:
		return domain.Invalid("where", "no subscriber fits")
	case s.Expect != nil && *s.Expect != total:
		return domain.Invalid("expect", "there are %d subscribers, not %d", total, *s.Expect)
	case s.Expect == nil && total > Expected && !s.ValidateOnly:
		return domain.Invalid("expect", "there are %d subscribers; for more than %d, expect must name their number", total, Expected)
	}
	return nil
}

// Permissions are what a caller needs for all rows.
func (s *Start) Permissions() []domain.Permission {
	needed := s.Change.Permissions()
	for _, row := range s.Rows {
		for _, p := range row.Permissions() {
			if !slices.Contains(needed, p) {
				needed = append(needed, p)
			}
		}
	}
	return needed
}

// First is the state that the operation begins in.
func (s *Start) First() State {
	if s.ValidateOnly || s.ErrorPolicy == RejectEverything {
		return Checking
	}
	return Running
}
