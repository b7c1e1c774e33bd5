package upstream

import (
	"slices"
	"time"

	"simgraph/domain"
)

// Place is where the reading of a list stands. A list may change meanwhile: Tail are the last
// items that were read, by which the place is found again.
type Place struct {
	Offset int      `json:"offset"`
	Tail   []string `json:"tail,omitempty"`
}

// Cursor is where a pass stands, resource by resource. What is before it is stored, so that a
// pass that was interrupted goes on from there.
type Cursor struct {
	// BegunAt is when the pass began; zero for one that has not.
	BegunAt time.Time `json:"begunAt"`
	IsSweep bool      `json:"isSweep"`
	// BaseURL and Labels are those of the upstream.
	BaseURL string `json:"baseUrl"`
	Labels  Side   `json:"labels"`
	// Done are the resources that are stored.
	Done []Resource `json:"done,omitempty"`
	// Counted are how many of the others are stored.
	Counted map[Resource]int `json:"counted,omitempty"`
	// Subscribers is where the list of subscribers stands. Profiles of eUICCs are read in a
	// second round, where the first has found some.
	Subscribers Place `json:"subscribers"`
	IsSecond    bool  `json:"isSecond,omitempty"`
	HasProfiles bool  `json:"hasProfiles,omitempty"`
	// Tags is where the page of the list of tags begins that is being read, LastTag the last of
	// it that is stored, Tag the one that is being read, and Carriers where its list of
	// subscribers stands.
	Tags     Place  `json:"tags"`
	LastTag  string `json:"lastTag,omitempty"`
	Tag      string `json:"tag,omitempty"`
	Carriers Place  `json:"carriers"`
	// Days are those whose usage is stored.
	Days []string `json:"days,omitempty"`
}

// NewCursor begins a pass.
func NewCursor(of *Spec, isSweep bool, at time.Time) Cursor {
	return Cursor{BegunAt: at, IsSweep: isSweep, BaseURL: of.BaseURL, Labels: of.Labels}
}

// IsOf reports whether a pass that is claimed at a time goes on from here. After PassTime it
// begins anew, since the account has changed by then.
func (c *Cursor) IsOf(of *Spec, isSweep bool, at time.Time) bool {
	isSame := c.IsSweep == isSweep && c.BaseURL == of.BaseURL && c.Labels == of.Labels
	return isSame && !c.BegunAt.IsZero() && !at.Before(c.BegunAt) && at.Before(c.BegunAt.Add(PassTime))
}

// IsDone reports whether a resource is stored.
func (c *Cursor) IsDone(r Resource) bool { return slices.Contains(c.Done, r) }

// Finish notes that a resource is stored.
func (c *Cursor) Finish(r Resource) {
	if !c.IsDone(r) {
		c.Done = append(c.Done, r)
	}
}

// Count notes how many of a resource are stored.
func (c *Cursor) Count(r Resource, n int) {
	if c.Counted == nil {
		c.Counted = map[Resource]int{}
	}
	c.Counted[r] = n
}

// Write is an edit of a nickname or of a tag that is sent to the other server.
type Write struct {
	PhysicalID string
	// TagName is the tag; "" for the nickname.
	TagName  string
	Nickname string
	// IsAttached is whether the subscriber gets the tag, or loses it.
	IsAttached bool
	// Version rises with each later edit of the same nickname or tag.
	Version int64
}

// DeletedAlert is an alert that people deleted here, so many times.
type DeletedAlert struct {
	RuleType                       domain.RuleType
	Target                         string
	LowerThreshold, UpperThreshold int64
	Copies                         int
}

// spec is what makes an alert the same as another.
func (d *DeletedAlert) spec() domain.AlertSpec {
	return domain.AlertSpec{RuleType: d.RuleType, Target: d.Target, LowerThreshold: d.LowerThreshold, UpperThreshold: d.UpperThreshold}
}

// Remaining returns the alerts without those that were deleted here: of equal ones the last.
func Remaining(alerts []domain.AlertImport, deleted []*DeletedAlert) []domain.AlertImport {
	left := map[domain.AlertSpec]int{}
	for i := range alerts {
		left[alerts[i].AlertSpec]++
	}
	for _, d := range deleted {
		left[d.spec()] -= d.Copies
	}
	return slices.DeleteFunc(slices.Clone(alerts), func(a domain.AlertImport) bool { return a.Copy >= left[a.AlertSpec] })
}
