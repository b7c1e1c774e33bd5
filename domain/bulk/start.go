package bulk

import (
	"slices"
	"time"

	"simgraph/domain"
)

// OneChoice is what is wrong with a start that names no subscribers, or names them in two ways.
const OneChoice = "exactly one of where, physicalIds, rows, dryRunOf and all says which subscribers change"

// Check rejects a start that names no subscribers, or one of them twice, or breaks a
// rule of a change.
func (s *Start) Check(now time.Time) error {
	named := 0
	for _, given := range []bool{s.ByFilter, s.PhysicalIDs != nil, s.Rows != nil, s.Lines != nil, s.DryRunOf != ""} {
		if given {
			named++
		}
	}
	if named != 1 {
		return domain.Invalid("where", "%s", OneChoice)
	}
	if s.DryRunOf != "" {
		return s.checkDryRunOf()
	}
	if !s.ByFilter && s.Lines == nil && len(s.PhysicalIDs)+len(s.Rows) == 0 {
		return domain.Invalid("rows", "an operation has at least one subscriber")
	}
	if err := CheckTotal(len(s.PhysicalIDs)+len(s.Rows), MaxRows); err != nil {
		return err
	}
	if s.Create && s.Rows == nil && s.Lines == nil {
		return domain.Invalid("create", "create is for rows, which say what is created")
	}
	if err := s.Change.Check(now); err != nil {
		return domain.Within("change", err)
	}
	if s.Rows == nil && s.Lines == nil && s.Change.IsEmpty() {
		return domain.Invalid("change", "the change has nothing that changes")
	}
	return s.checkRows(now)
}

// checkDryRunOf rejects a start of a dry run that says again what the dry run has, or does
// not say what a person saw of it.
func (s *Start) checkDryRunOf() error {
	switch {
	case s.Digest == "":
		return domain.Invalid("digest", "digest must be that of the dry run")
	case s.ValidateOnly:
		return domain.Invalid("validateOnly", "what a dry run checked is started, and not checked by another")
	case !s.Change.IsEmpty():
		return domain.Invalid("change", "the change is that of the dry run")
	case s.Create:
		return domain.Invalid("create", "a dry run that creates is started as it is")
	}
	return nil
}

// CheckStart rejects the start of an operation that is no dry run to be started at the time,
// or has another digest.
func (o *Operation) CheckStart(digest string, now time.Time) error {
	switch {
	case o.StartedID != nil:
		return domain.Invalid("dryRunOf", "the dry run was started, as the operation %s", *o.StartedID)
	case o.StartableUntil == nil:
		return domain.Invalid("dryRunOf", "there is nothing to start: the operation is no dry run that ended, or it would change nothing")
	case now.After(*o.StartableUntil):
		return domain.Invalid("dryRunOf", "a dry run can be started within %d hours after it ended: make another one", int(Startable/time.Hour))
	case o.Digest != digest:
		return domain.Invalid("digest", "the digest is not that of the dry run: start what you saw")
	}
	return nil
}

// CheckTotal rejects more subscribers than an operation has, which are MaxRows but in tests.
func CheckTotal(rows, most int) error {
	if rows > most {
		return domain.Invalid("where", "an operation has at most %d subscribers; narrow the filter, or start several", most)
	}
	return nil
}

func (s *Start) checkRows(now time.Time) error {
	seen, addresses := make(map[string]bool, len(s.PhysicalIDs)+len(s.Rows)), map[string]bool{}
	for i, id := range s.PhysicalIDs {
		if err := checkOnce(seen, id); err != nil {
			return domain.At(domain.Item("physicalIds", i), err)
		}
	}
	for i, row := range s.Rows {
		if row.Fault != nil {
			continue
		}
		if err := s.checkRow(seen, row, now); err != nil {
			return domain.Within(domain.Item("rows", i), err)
		}
		if address := row.FixedIPAddress; address != nil && addresses[*address] {
			return domain.Within(domain.Item("rows", i), domain.Invalid("fixedIpAddress", "two rows have the fixed address %s", *address))
		} else if address != nil {
			addresses[*address] = true
		}
	}
	return nil
}

func (s *Start) checkRow(seen map[string]bool, row Row, now time.Time) error {
	if err := checkOnce(seen, row.PhysicalID); err != nil {
		return err
	}
	row.Change = row.Over(s.Change)
	if row.IsEmpty() {
		return domain.Invalid("", "the row of %q has nothing that changes", row.PhysicalID)
	}
	return row.Check(now)
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
	case s.Expect == nil && total > Expected && !s.ValidateOnly && s.DryRunOf == "":
		return domain.Invalid("expect", "there are %d subscribers; for more than %d, expect must name their number", total, Expected)
	}
	return nil
}

// Permissions are what the caller needs for all rows, but for Lines: see Row.Needs. What
// creates needs CreatePermission. Only when a row runs is it known whether it edits, and what
// else the caller may is noted for that.
func (s *Start) Permissions(caller *domain.Caller) []domain.Permission {
	if s.Create {
		may := []domain.Permission{CreatePermission}
		if caller.Need(domain.UpdateSubscriber) == nil {
			may = append(may, domain.UpdateSubscriber)
		}
		return may
	}
	needed := s.Change.Permissions()
	for _, row := range s.Rows {
		needed = row.Needs(needed)
	}
	return needed
}

// Needs adds the permissions that the row needs to those that others need.
func (r Row) Needs(needed []domain.Permission) []domain.Permission {
	for _, p := range r.Permissions() {
		if !slices.Contains(needed, p) {
			needed = append(needed, p)
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
