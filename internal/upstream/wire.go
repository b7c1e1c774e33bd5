package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/upstream"
)

// whole is an integer, which servers may write as 5, 5.0 or "5".
type whole int64

// UnmarshalJSON implements json.Unmarshaler.
func (w *whole) UnmarshalJSON(text []byte) error {
	digits := strings.Trim(string(text), `"`)
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		f, isFloat := strconv.ParseFloat(digits, 64)
		if n = int64(f); isFloat != nil || float64(n) != f {
			return fmt.Errorf("%.40q is no integer", text)
		}
	}
	*w = whole(n)
	return nil
}

func optional[N int | int64](w *whole) *N {
	if w == nil {
		return nil
	}
	return new(N(*w))
}

// subscriber is one as the documented API has it (§2.1).
type subscriber struct {
	PhysicalID     string  `json:"physicalId"`
	SubscriberID   string  `json:"subscriberId"`
	DataNumber     *string `json:"dataNumber"`
	IMSI           *string `json:"imsi"`
	Nickname       string  `json:"nickname"`
	OperatorName   string  `json:"operatorName"`
	OperatorCode   string  `json:"operatorCode"`
	TariffName     *string `json:"tariffName"`
	LineRental     *whole  `json:"lineRental"`
	ConnectionDate string  `json:"connectionDate"`
	ExpiryDate     string  `json:"expiryDate"`
	ContractLength *whole  `json:"contractLength"`
	IsBarred       bool    `json:"isBarred"`
	IsActive       bool    `json:"isActive"`
	TerminateDate  *string `json:"terminateDate"`
	GroupID        *whole  `json:"groupId"`
	SubscriberType string  `json:"subscriberType"`
	NetworkState   struct {
		IsTransferring bool `json:"isTransferring"`
		IsOnline       bool `json:"isOnline"`
	} `json:"networkState"`
	EID          *string `json:"eid"`
	SMDPProvider *string `json:"smdpProvider"`
	Related      struct {
		Parent *struct {
			PhysicalID        string `json:"physicalId"`
			IsEnabledOnParent bool   `json:"isEnabledOnParent"`
		} `json:"parent"`
	} `json:"related"`
}

func (s *subscriber) key() string { return s.PhysicalID }

// domain returns the subscriber, checked by the rules of here.
func (s *subscriber) domain() (*domain.Subscriber, error) {
	of := &domain.Subscriber{
		Kind: upstream.KindOf(s.PhysicalID, s.SubscriberID), PhysicalID: s.PhysicalID, SubscriberID: s.SubscriberID, DataNumber: s.DataNumber,
		OperatorCode: s.OperatorCode, OperatorName: s.OperatorName, TariffName: s.TariffName, LineRental: optional[int](s.LineRental),
		ContractLength: optional[int](s.ContractLength), IsBarred: s.IsBarred, IsActive: s.IsActive, GroupID: optional[int64](s.GroupID),
		IsTransferring: s.NetworkState.IsTransferring, IsOnline: s.NetworkState.IsOnline,
		SubscriberType: domain.SubscriberType(ascii.Lower(s.SubscriberType)), EID: s.EID, SMDPProvider: s.SMDPProvider,
	}
	if s.IMSI != nil {
		of.IMSI = *s.IMSI
	}
	if p := s.Related.Parent; p != nil {
		of.ParentPhysicalID, of.IsEnabledOnParent = &p.PhysicalID, &p.IsEnabledOnParent
	}
	var err error
	if of.Nickname, err = domain.NewNickname(s.Nickname); err != nil {
		return nil, err
	}
	if of.ConnectionDate, err = domain.ParseInstant("connectionDate", s.ConnectionDate); err != nil {
		return nil, err
	}
	if of.ExpiryDate, err = domain.ParseInstant("expiryDate", s.ExpiryDate); err != nil {
		return nil, err
	}
	if s.TerminateDate != nil {
		at, err := domain.ParseInstant("terminateDate", *s.TerminateDate)
		if err != nil {
			return nil, err
		}
		of.TerminateDate = &at
	}
	return of, of.Check()
}

type group struct {
	ID                whole  `json:"id"`
	Name              string `json:"name"`
	HideTariffDetails bool   `json:"hideTariffDetails"`
}

type tagCount struct {
	TagName             string `json:"tagName"`
	NumberOfSubscribers whole  `json:"numberOfSubscribers"`
}

func (t *tagCount) key() string { return t.TagName }

type reference struct {
	PhysicalID string `json:"physicalId"`
}

func (r *reference) key() string { return r.PhysicalID }

type alert struct {
	ID             whole  `json:"id"`
	RuleType       string `json:"ruleType"`
	Target         any    `json:"target"`
	LowerThreshold whole  `json:"lowerThreshold"`
	UpperThreshold whole  `json:"upperThreshold"`
}

func (a *alert) key() string { return strconv.FormatInt(int64(a.ID), 10) }

func (a *alert) spec() domain.AlertSpec {
	return domain.AlertSpec{
		RuleType: domain.RuleType(ascii.Lower(a.RuleType)), Target: target(a.Target), LowerThreshold: int64(a.LowerThreshold), UpperThreshold: int64(a.UpperThreshold),
	}
}

// target is a text, or a number where it is a group.
func target(of any) string {
	switch of := of.(type) {
	case string:
		return of
	case float64:
		return strconv.FormatFloat(of, 'f', -1, 64)
	}
	return ""
}

type recipient struct {
	Email string `json:"email"`
}

type fired struct {
	RuleType      string `json:"ruleType"`
	Target        any    `json:"target"`
	LimitBoundary string `json:"limitBoundary"`
	DateCreated   string `json:"dateCreated"`
}

func (f *fired) domain() (upstream.Fired, error) {
	at, err := domain.ParseInstant("dateCreated", f.DateCreated)
	return upstream.Fired{
		RuleType: domain.RuleType(ascii.Lower(f.RuleType)), Target: target(f.Target), Boundary: domain.Boundary(ascii.Lower(f.LimitBoundary)), DateCreated: at,
	}, err
}

// answer is the documented wrapper, of alerts with an s (§4).
type answer[T any] struct {
	Content  []T `json:"content"`
	Contents []T `json:"contents"`
}

// listOf asks for one list.
func listOf[T any](ctx context.Context, c *Client, segments []string, query url.Values) ([]T, error) {
	var of answer[T]
	err := c.get(ctx, segments, query, func(in *json.Decoder) error {
		of = answer[T]{}
		return in.Decode(&of)
	})
	return append(of.Content, of.Contents...), err
}

const (
	// pageSize is the documented maximum (§8).
	pageSize = 100
	// maxSteps bounds how often a list is read again from an earlier place, since what was
	// read before has moved.
	maxSteps = 1_000
)

// keyed is an item of a list with its identity.
type keyed[T any] interface {
	*T
	key() string
}

// tail is how many of the last items that were read a place names.
const tail = 10

// each reads a list page by page, from its beginning.
func each[T any, P keyed[T]](ctx context.Context, c *Client, segments []string, order string, do func([]T) error) error {
	return from[T, P](ctx, c, segments, order, upstream.Place{}, func(page []T, _, _ upstream.Place) error { return do(page) })
}

// from reads a list page by page, from a place on. It may change meanwhile: a page begins
// with the last item of the one before. Where none of the last items is on the page, items
// were removed before it, and the list is read again from a page earlier. Items can come
// twice. do is given where the page begins, and where the next one does.
func from[T any, P keyed[T]](ctx context.Context, c *Client, segments []string, order string, place upstream.Place, do func(page []T, at, next upstream.Place) error) error {
	before, offset, steps := place.Tail, place.Offset, 0
	for {
		query := url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(offset)}}
		if order != "" {
			query.Set("orderBy", order)
		}
		items, err := listOf[T](ctx, c, segments, query)
		if err != nil {
			return err
		}
		fresh, found := after[T, P](distinct[T, P](items), before)
		if !found {
			if steps++; steps > maxSteps {
				return fmt.Errorf("%w: /%s changes faster than it can be read", errMalformed, strings.Join(segments, "/"))
			}
			if offset == 0 {
				before = nil // all of the list is new
			}
			offset = max(0, offset-pageSize)
			continue
		}
		at := upstream.Place{Offset: offset, Tail: before}
		next := upstream.Place{Offset: offset + max(0, len(items)-1), Tail: keysOf[T, P](items[max(0, len(items)-tail):])}
		if len(fresh) > 0 {
			if err := do(fresh, at, next); err != nil {
				return err
			}
		}
		if len(items) < pageSize {
			return nil
		}
		before, offset = next.Tail, next.Offset
	}
}

// distinct leaves out what stands twice on a page.
func distinct[T any, P keyed[T]](items []T) []T {
	known := make(map[string]bool, len(items))
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool {
		key := P(&item).key()
		again := known[key]
		known[key] = true
		return again
	})
}

func keysOf[T any, P keyed[T]](items []T) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = P(&items[i]).key()
	}
	return keys
}

// after returns the items after the last one that was read before, and false where
// there is none.
func after[T any, P keyed[T]](items []T, before []string) ([]T, bool) {
	if before == nil {
		return items, true
	}
	for i := len(items) - 1; i >= 0; i-- {
		if slices.Contains(before, P(&items[i]).key()) {
			return items[i+1:], true
		}
	}
	return nil, false
}

// maxLog bounds the entries of a log that are read.
const maxLog = 1_000_000

// log reads the log of alerts, which the contract does not page: from the latest moment that
// came on, until nothing new comes.
func (c *Client) log(ctx context.Context) (all []upstream.Fired, err error) {
	query, ties := url.Values{"orderBy": {"dateCreated ASC"}}, 0
	for len(all) < maxLog {
		entries, err := listOf[fired](ctx, c, []string{"alerts", "logs"}, query)
		if err != nil || len(entries) <= ties {
			return all, err
		}
		for i := range entries[ties:] {
			entry, err := entries[ties+i].domain()
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errMalformed, err)
			}
			all = append(all, entry)
		}
		latest := all[len(all)-1].DateCreated
		for ties = 0; ties < len(all) && all[len(all)-1-ties].DateCreated.Equal(latest); {
			ties++
		}
		query.Set("filter", "dateCreated ge "+latest.Format(time.RFC3339Nano))
	}
	return all, nil
}
