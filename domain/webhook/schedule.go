package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pauses are the times between attempts.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// maxRetryAfter bounds what an endpoint may demand.
	maxRetryAfter = 24 * time.Hour
	// PutOff is longer than any attempt is put off. What is due later comes of a clock
	// that was set back since, and is due now.
	PutOff = 48 * time.Hour
	// usualPause is for an endpoint that is overloaded and names no time.
	usualPause = 30 * time.Second
)

// Outcome is what an attempt means for its message and endpoint.
type Outcome struct {
	Delivered bool
	// Gone: the endpoint wants no more messages.
	Gone bool
	// Pause is for how long the endpoint wants no request.
	Pause time.Duration
}

// Judge reads the status of an answer, 0 for none, and its header Retry-After. Only
// 2xx is a success: redirects are never followed.
func Judge(status int, retryAfter string, at time.Time) Outcome {
	switch {
	case status >= 200 && status < 300:
		return Outcome{Delivered: true}
	case status == http.StatusGone:
		return Outcome{Gone: true}
	}
	pause := RetryAfter(retryAfter, at)
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		if pause == 0 {
			pause = usualPause
		}
	}
	return Outcome{Pause: pause}
}

// RetryAfter reads the header of that name, seconds or a date (RFC 9110 §10.2.3); 0 for
// neither, and a day at most.
func RetryAfter(text string, at time.Time) time.Duration {
	text = strings.TrimSpace(text)
	var pause time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		pause = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		pause = date.Sub(at)
	}
	return min(max(pause, 0), maxRetryAfter)
}

// Next returns how long to wait after that many attempts, and false when there are
// no more. chance, of [0, 1), is the jitter: up to a fifth longer, so that messages
// that failed together do not come back together.
func Next(attempts int, chance float64, pause time.Duration) (time.Duration, bool) {
	if attempts > len(pauses) {
		return 0, false
	}
	wait := pauses[max(attempts, 1)-1]
	return max(wait, pause) + time.Duration(chance*float64(wait)/5), true
}
