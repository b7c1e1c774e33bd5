package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

// span is a part of time in whole hours of UTC.
type span struct{ from, until time.Time }

func (s span) query() url.Values {
	return url.Values{"startDate": {s.from.UTC().Format(time.RFC3339)}, "endDate": {s.until.UTC().Format(time.RFC3339)}}
}

// byDirection is usage by direction and hour (§2.8).
type byDirection struct {
	MobileTerminated map[string]whole `json:"mobileTerminated"`
	MobileOriginated map[string]whole `json:"mobileOriginated"`
}

// hours returns the usage of a subscriber by the hour, or of the company for "".
func (c *Client) hours(ctx context.Context, physicalID string, in span) (upstream.Hours, error) {
	segments := []string{"analytics", "data-usage"}
	if physicalID != "" {
		segments = append(segments, physicalID)
	}
	parts, err := listOf[byDirection](ctx, c, segments, in.query())
	if err != nil {
		return nil, err
	}
	hours := upstream.Hours{}
	for _, part := range parts {
		err := add(hours, part.MobileOriginated, in, func(v *domain.Volume, n int64) { v.MobileOriginated += n })
		if err == nil {
			err = add(hours, part.MobileTerminated, in, func(v *domain.Volume, n int64) { v.MobileTerminated += n })
		}
		if err != nil {
			return nil, err
		}
	}
	return hours, nil
}

func add(hours upstream.Hours, bytes map[string]whole, in span, to func(*domain.Volume, int64)) error {
	for text, n := range bytes {
		at, err := time.Parse(time.RFC3339, text)
		switch {
		case err != nil || n < 0 || n > domain.MaxCounter:
			return fmt.Errorf("%w: %d bytes at %.40q", errMalformed, n, text)
		case n == 0 || at.Before(in.from) || !at.Before(in.until):
			continue // a server may widen a span
		}
		hour := upstream.HourOf(at)
		v := hours[hour]
		to(&v, int64(n))
		hours[hour] = v
	}
	return nil
}

// bySubscriber returns the bytes of both directions of each subscriber, by its subscriberId.
func (c *Client) bySubscriber(ctx context.Context, in span) (all map[string]int64, err error) {
	err = c.get(ctx, []string{"analytics", "data-usage-by-subscriber"}, in.query(), func(d *json.Decoder) error {
		all = map[string]int64{}
		return object(d, func(name string) error {
			if name != "content" {
				return skip(d)
			}
			return object(d, func(name string) error {
				if name != "subscriberDataUsage" {
					return skip(d)
				}
				return object(d, func(subscriber string) error {
					var times map[string]whole
					if err := d.Decode(&times); err != nil {
						return err
					}
					for _, n := range times {
						if n < 0 || n > domain.MaxCounter {
							return fmt.Errorf("%s bytes of %.40q", strconv.FormatInt(int64(n), 10), subscriber)
						}
						all[subscriber] += int64(n)
					}
					return nil
				})
			})
		})
	})
	return all, err
}

// object calls do with the name of each property of an object; do reads its value. No more
// than that is in memory at once.
func object(d *json.Decoder, do func(name string) error) error {
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return orWrong(err, begin)
	}
	for d.More() {
		name, err := d.Token()
		text, isText := name.(string)
		if err != nil || !isText {
			return orWrong(err, name)
		}
		if err := do(text); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func skip(d *json.Decoder) error {
	var value json.RawMessage
	return d.Decode(&value)
}

func orWrong(err error, token json.Token) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%v where an object begins", token)
}
