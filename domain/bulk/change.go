package bulk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/inventory"
)

// MaxTags bounds how many tags a change adds or removes.
const MaxTags = 20

// TagsField is the name of a tag among the changes of a row.
const TagsField = "tags"

// Change is what an operation does with a subscriber. Its fields that are nil or
// empty stay as they are.
type Change struct {
	AddTags, RemoveTags []domain.TagName
	Move                *Move
	// Nickname is the new one, NicknamePattern what makes it: see Placeholders.
	Nickname, NicknamePattern *string
	IsBarred                  *bool
	// TerminateDate ends the contract then; the subscriber is not active any more.
	TerminateDate *time.Time
	TariffName    *string
}

// Move puts a subscriber into a group, or out of its group where that is nil.
type Move struct{ GroupID *int64 }

// Placeholders stand in braces in a pattern of nicknames: for texts of the
// subscriber, and for its number among those of the operation, from 1.
var Placeholders = []string{"physicalId", "subscriberId", "imsi", "nickname", "n"}

// IsEmpty reports whether nothing changes.
func (c Change) IsEmpty() bool {
	return len(c.AddTags)+len(c.RemoveTags) == 0 && c.Move == nil && c.Nickname == nil && c.NicknamePattern == nil &&
		c.IsBarred == nil && c.TerminateDate == nil && c.TariffName == nil
}

// Permissions are what a caller needs to make the change.
func (c Change) Permissions() (needed []domain.Permission) {
	if len(c.AddTags)+len(c.RemoveTags) > 0 || c.Nickname != nil || c.NicknamePattern != nil {
		needed = append(needed, domain.UpdateSubscriber)
	}
	if c.Move != nil || c.IsBarred != nil || c.TerminateDate != nil || c.TariffName != nil {
		needed = append(needed, domain.ManageInventory)
	}
	return needed
}

// Allowed returns Forbidden where one of the permissions for the change is not among those.
func (c Change) Allowed(permissions []domain.Permission) error {
	for _, p := range c.Permissions() {
		if !slices.Contains(permissions, p) {
			return domain.Forbidden("this needs the permission %q", p.Label())
		}
	}
	return nil
}

// Check rejects values that no subscriber can have, at a time.
func (c Change) Check(now time.Time) error {
	if len(c.AddTags) > MaxTags || len(c.RemoveTags) > MaxTags {
		return domain.Invalid("addTags", "a change adds and removes at most %d tags each", MaxTags)
	}
	for i, tag := range c.AddTags {
		if slices.Contains(c.RemoveTags, tag) {
			return domain.At(domain.Item("addTags", i), domain.Invalid("", "the tag %q is added and removed", tag))
		}
	}
	if c.Nickname != nil && c.NicknamePattern != nil {
		return domain.Invalid("nickname", "nickname and nicknamePattern exclude each other")
	}
	if c.Nickname != nil {
		if err := domain.CheckNickname(*c.Nickname); err != nil {
			return err
		}
	}
	if c.NicknamePattern != nil {
		if err := checkPattern(*c.NicknamePattern); err != nil {
			return err
		}
	}
	if c.Move != nil && c.Move.GroupID != nil {
		if err := domain.CheckGroupID(*c.Move.GroupID); err != nil {
			return err
		}
	}
	if c.TerminateDate != nil && c.TerminateDate.After(now.Add(domain.ClockTolerance)) {
		return domain.Invalid("terminateDate", "terminateDate is in the future")
	}
	if c.TariffName != nil {
		return domain.CheckName("tariffName", *c.TariffName)
	}
	return nil
}

func checkPattern(pattern string) error {
	if err := domain.CheckNickname(pattern); err != nil {
		return err
	}
	rest := pattern
	for {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return nil
		}
		name, next, closed := strings.Cut(after, "}")
		if !closed || !slices.Contains(Placeholders, name) {
			return domain.Invalid("nicknamePattern", "a brace begins one of {%s}", strings.Join(Placeholders, "}, {"))
		}
		rest = next
	}
}

// nickname fills the pattern in for a subscriber.
func nickname(pattern string, of *domain.Subscriber, position int) string {
	return strings.NewReplacer("{physicalId}", of.PhysicalID, "{subscriberId}", of.SubscriberID, "{imsi}", of.IMSI,
		"{nickname}", of.Nickname, "{n}", strconv.Itoa(position)).Replace(pattern)
}

// Over returns the change of a row that has values of its own beside a common one.
func (c Change) Over(common Change) Change {
	if len(c.AddTags) == 0 {
		c.AddTags = common.AddTags
	}
	if len(c.RemoveTags) == 0 {
		c.RemoveTags = common.RemoveTags
	}
	if c.Nickname == nil {
		c.Nickname, c.NicknamePattern = common.Nickname, common.NicknamePattern
	}
	c.Move, c.IsBarred = either(c.Move, common.Move), either(c.IsBarred, common.IsBarred)
	c.TerminateDate, c.TariffName = either(c.TerminateDate, common.TerminateDate), either(c.TariffName, common.TariffName)
	return c
}

func either[T any](first, second *T) *T {
	if first != nil {
		return first
	}
	return second
}

// String is the change in words.
func (c Change) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	for _, tag := range c.AddTags {
		add("add the tag %q", tag)
	}
	for _, tag := range c.RemoveTags {
		add("remove the tag %q", tag)
	}
	switch {
	case c.Move == nil:
	case c.Move.GroupID == nil:
		add("move out of the group")
	default:
		add("move into the group %d", *c.Move.GroupID)
	}
	if name := either(c.Nickname, c.NicknamePattern); name != nil {
		add("set the nickname %q", *name)
	}
	if c.IsBarred != nil {
		parts = append(parts, map[bool]string{true: "bar", false: "unbar"}[*c.IsBarred])
	}
	if c.TerminateDate != nil {
		add("terminate on %s", c.TerminateDate.UTC().Format(time.RFC3339))
	}
	if c.TariffName != nil {
		add("set the tariff %q", *c.TariffName)
	}
	if len(parts) == 0 {
		return "a change of its own for each subscriber"
	}
	return strings.Join(parts, ", ")
}

// Describe is what an operation does in words: a change, and whether it creates.
func Describe(change Change, creates bool) string {
	if creates {
		return "create the subscribers that do not exist; of the others: " + change.String()
	}
	return change.String()
}

// Tags are those that the change names.
func (c Change) Tags() []domain.TagName { return slices.Concat(c.AddTags, c.RemoveTags) }

// Record is a subscriber with those of its tags that a change names.
type Record struct {
	domain.Subscriber
	Tags []domain.TagName
}

// Known is what changes may name in a scope.
type Known struct {
	Groups  map[int64]bool
	Tariffs map[string]bool
}

// Edited is what a change makes of a record.
type Edited struct {
	Record
	Changes []domain.AuditChange
	// Faults are the errors of the parts that are not possible. The record has the
	// other parts.
	Faults []error
}

// Edit makes those parts of a change that are possible in the scope. Position is that
// of the row.
func (c Change) Edit(scope domain.Scope, before Record, position int, known Known) Edited {
	e := editing{scope: scope, known: known, edited: Edited{Record: before}}
	e.edited.Tags = slices.Clone(before.Tags)
	if c.Nickname != nil {
		e.part(func(s *domain.Subscriber) { s.Nickname = *c.Nickname })
	} else if c.NicknamePattern != nil {
		e.part(func(s *domain.Subscriber) { s.Nickname = nickname(*c.NicknamePattern, s, position) })
	}
	if c.IsBarred != nil {
		e.part(func(s *domain.Subscriber) { s.IsBarred = *c.IsBarred })
	}
	if c.TariffName != nil {
		e.part(func(s *domain.Subscriber) { s.TariffName = c.TariffName })
	}
	if at := c.TerminateDate; at != nil && at.Before(before.ConnectionDate) {
		e.fail(domain.Invalid("terminateDate", "terminateDate must not be before connectionDate"))
	} else if at != nil {
		e.part(func(s *domain.Subscriber) { s.TerminateDate, s.IsActive = at, false })
	}
	if c.Move != nil {
		e.part(func(s *domain.Subscriber) { s.GroupID = c.Move.GroupID })
	}
	for _, tag := range c.AddTags {
		e.carry(tag, true)
	}
	for _, tag := range c.RemoveTags {
		e.carry(tag, false)
	}
	return e.done(&before.Subscriber)
}

// editing makes one part of a change after the other.
type editing struct {
	scope  domain.Scope
	known  Known
	edited Edited
	tags   []domain.AuditChange
}

func (e *editing) fail(err error) { e.edited.Faults = append(e.edited.Faults, err) }

// part makes one part, or notes why it is not possible.
func (e *editing) part(edit func(*domain.Subscriber)) {
	after := e.edited.Subscriber
	edit(&after)
	if err := e.check(&e.edited.Subscriber, &after); err != nil {
		e.fail(err)
		return
	}
	e.edited.Subscriber = after
}

func (e *editing) check(before, after *domain.Subscriber) error {
	if err := inventory.CheckEdit(e.scope, before, after); err != nil {
		return err
	}
	if id := after.GroupID; id != nil && !same(before.GroupID, id) && !e.known.Groups[*id] {
		return domain.NotFound("groupId", "group", strconv.FormatInt(*id, 10))
	}
	if name := *after.TariffName; name != *before.TariffName && !e.known.Tariffs[name] {
		return domain.NotFound("tariffName", "tariff", name)
	}
	return nil
}

// carry adds the tag or removes it.
func (e *editing) carry(tag domain.TagName, wanted bool) {
	at := slices.Index(e.edited.Tags, tag)
	switch {
	case wanted && at < 0:
		e.edited.Tags = append(e.edited.Tags, tag)
		e.tags = append(e.tags, domain.Became(TagsField, string(tag)))
	case !wanted && at >= 0:
		e.edited.Tags = slices.Delete(e.edited.Tags, at, at+1)
		e.tags = append(e.tags, domain.Was(TagsField, string(tag)))
	}
}

func (e *editing) done(before *domain.Subscriber) Edited {
	e.edited.Changes = append(inventory.Changes(before, &e.edited.Subscriber), e.tags...)
	return e.edited
}

// Undo takes the changes of a row back. It returns an error where the record is not
// any more as they made it, or where that is not possible in the scope.
func Undo(scope domain.Scope, before Record, changes []domain.AuditChange, known Known) (Edited, bool, error) {
	e := editing{scope: scope, known: known, edited: Edited{Record: before}}
	e.edited.Tags = slices.Clone(before.Tags)
	after := before.Subscriber
	for _, c := range changes {
		if c.Field == TagsField {
			if carried := slices.Contains(before.Tags, TagOf(c)); carried != (c.After != nil) {
				return e.edited, true, domain.Invalid(TagsField, "the tag %q was added or removed since", TagOf(c))
			}
			e.carry(TagOf(c), c.Before != nil)
			continue
		}
		if c.Field == "tariffName" {
			if err := e.tariffShown(&before.Subscriber); err != nil {
				return e.edited, false, err
			}
		}
		if now := inventory.Text(&before.Subscriber, c.Field); !same(now, c.After) {
			return e.edited, true, domain.Invalid(c.Field, "%s was changed since: it is %s, not %s", c.Field, quoted(now), quoted(c.After))
		}
		if err := set(&after, c.Field, c.Before); err != nil {
			return e.edited, false, err
		}
	}
	if err := e.check(&before.Subscriber, &after); err != nil {
		return e.edited, false, err
	}
	e.edited.Subscriber = after
	return e.done(&before.Subscriber), false, nil
}

// Shown is what a dry run showed of a row.
type Shown struct {
	Outcome Outcome
	Message *string
	Changes []domain.AuditChange
}

// Check rejects what would become of the row where that is not what the dry run showed.
func (s Shown) Check(outcome Outcome, changes []domain.AuditChange) error {
	switch {
	case s.Outcome == Failed:
		return domain.Invalid("", "failed in the dry run: %s", *s.Message)
	case outcome != s.Outcome || !slices.EqualFunc(changes, s.Changes, sameChange):
		return domain.Invalid("", "changed since the dry run: something else would become of it")
	}
	return nil
}

func sameChange(a, b domain.AuditChange) bool {
	return a.Field == b.Field && same(a.Before, b.Before) && same(a.After, b.After)
}

// tariffShown refuses to compare a tariff that the scope hides, since the outcome would
// show it.
func (e *editing) tariffShown(before *domain.Subscriber) error {
	if before.TariffName == nil {
		return nil
	}
	edited := *before
	edited.TariffName = new(*before.TariffName)
	return inventory.CheckEdit(e.scope, before, &edited)
}

// TagsOf are those that changes of a row name.
func TagsOf(changes []domain.AuditChange) (tags []domain.TagName) {
	for _, c := range changes {
		if c.Field == TagsField {
			tags = append(tags, TagOf(c))
		}
	}
	return tags
}

// Named is a change that names the groups and tariffs that taking changes back does.
func Named(changes []domain.AuditChange) (named Change) {
	for _, c := range changes {
		var s domain.Subscriber
		if c.Field == TagsField || set(&s, c.Field, c.Before) != nil {
			continue
		}
		if s.GroupID != nil {
			named.Move = &Move{s.GroupID}
		}
		if s.TariffName != nil {
			named.TariffName = s.TariffName
		}
	}
	return named
}

// TagOf is the tag that a change of TagsField adds or removes.
func TagOf(c domain.AuditChange) domain.TagName { return domain.TagName(*either(c.After, c.Before)) }

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func quoted(text *string) string {
	if text == nil {
		return "nothing"
	}
	return strconv.Quote(*text)
}

// set gives a field that operations change the value that a text stands for.
func set(s *domain.Subscriber, field string, to *string) (err error) {
	text := ""
	if to != nil {
		text = *to
	}
	switch field {
	case "nickname":
		s.Nickname = text
	case "tariffName":
		s.TariffName = &text
	case "isBarred":
		s.IsBarred, err = strconv.ParseBool(text)
	case "isActive":
		s.IsActive, err = strconv.ParseBool(text)
	case "groupId":
		s.GroupID = nil
		if to != nil {
			var id int64
			id, err = strconv.ParseInt(text, 10, 64)
			s.GroupID = &id
		}
	case "terminateDate":
		s.TerminateDate = nil
		if to != nil {
			var at time.Time
			at, err = time.Parse(time.RFC3339Nano, text)
			s.TerminateDate = &at
		}
	default:
		err = fmt.Errorf("operations do not change %q", field)
	}
	return err
}
