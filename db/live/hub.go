package live

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"simgraph/domain"
)

var errMissed = errors.New("the connection for live events was lost")

// hub leads what is announced to the streams that follow it.
type hub struct {
	alerts  *openSockets[uuid.UUID, struct{}]
	changes *openSockets[int64, struct{}]
	usage   *openSockets[usageKey, usageSum]
	// operations are those that went on.
	operations *openSockets[uuid.UUID, struct{}]
}

func newHub() hub {
	return hub{newCrowd[uuid.UUID, struct{}](), newCrowd[int64, struct{}](), newCrowd[usageKey, usageSum](), newCrowd[uuid.UUID, struct{}]()}
}

// usageKey is whose usage was booked, and to the period from when.
type usageKey struct{ subscriber, period int64 }

// usageSum is how much was booked, and what the period has then.
type usageSum struct{ bytes, usage int64 }

// plus adds what was booked later; announcements may come out of order.
func (u usageSum) plus(later usageSum) usageSum {
	return usageSum{u.bytes + later.bytes, max(u.usage, later.usage)}
}

// companies are those whose alerts are followed.
func (h hub) companies() []domain.CompanyID { return h.alerts.companies() }

// fail ends the streams that cannot be made up for what they missed.
func (h hub) fail(err error) {
	h.changes.fail(err)
	h.usage.fail(err)
	h.operations.fail(err)
}

func (h hub) alert(company domain.CompanyID, notification uuid.UUID) {
	h.alerts.put(company, notification, struct{}{})
}

// dispatch reads what announce wrote: what happened, the company, and the rest.
func (h hub) dispatch(payload string) {
	kind, rest, _ := strings.Cut(payload, " ")
	number, rest, _ := strings.Cut(rest, " ")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return // from a newer version
	}
	company := domain.CompanyID(id)
	switch kind {
	case "alert":
		if notification, err := uuid.Parse(rest); err == nil {
			h.alert(company, notification)
		}
	case "changed":
		h.changed(company, rest)
	case "usage":
		h.recorded(company, rest)
	case "operation":
		if id, err := uuid.Parse(rest); err == nil {
			h.operations.put(company, id, struct{}{})
		}
	}
}

func (h hub) changed(company domain.CompanyID, keys string) {
	for text := range strings.SplitSeq(keys, ",") {
		if key, err := strconv.ParseInt(text, 10, 64); err == nil {
			h.changes.put(company, key, struct{}{})
		}
	}
}

// recorded reads the start of the period, and key:bytes:usage of each subscriber.
func (h hub) recorded(company domain.CompanyID, text string) {
	period, totals, _ := strings.Cut(text, " ")
	start, err := strconv.ParseInt(period, 10, 64)
	if err != nil || !h.usage.follows(company) {
		return
	}
	for total := range strings.SplitSeq(totals, ",") {
		var key, bytes, usage int64
		if _, err := fmt.Sscanf(total, "%d:%d:%d", &key, &bytes, &usage); err == nil {
			h.usage.put(company, usageKey{key, start}, usageSum{bytes, usage})
		}
	}
}

// openSockets are the backlogs of the streams that follow one kind of event.
type openSockets[K comparable, V any] struct {
	mu       sync.Mutex
	backlogs map[domain.CompanyID]map[*backlog[K, V]]struct{}
}

func newCrowd[K comparable, V any]() *openSockets[K, V] {
	return &openSockets[K, V]{backlogs: map[domain.CompanyID]map[*backlog[K, V]]struct{}{}}
}

// join has the backlog filled until leave is called.
func (c *openSockets[K, V]) join(company domain.CompanyID, b *backlog[K, V]) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.backlogs[company] == nil {
		c.backlogs[company] = map[*backlog[K, V]]struct{}{}
	}
	c.backlogs[company][b] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.backlogs[company], b)
		if len(c.backlogs[company]) == 0 {
			delete(c.backlogs, company)
		}
	}
}

func (c *openSockets[K, V]) put(company domain.CompanyID, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range c.backlogs[company] {
		b.put(key, value)
	}
}

func (c *openSockets[K, V]) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.backlogs {
		for b := range of {
			b.fail(err)
		}
	}
}

func (c *openSockets[K, V]) follows(company domain.CompanyID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.backlogs[company]) > 0
}

func (c *openSockets[K, V]) companies() []domain.CompanyID {
	c.mu.Lock()
	defer c.mu.Unlock()
	companies := make([]domain.CompanyID, 0, len(c.backlogs))
	for company := range c.backlogs {
		companies = append(companies, company)
	}
	return companies
}
