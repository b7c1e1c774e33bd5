package intake

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/source"
	"simgraph/internal/limit"
	"simgraph/internal/problem"
	"simgraph/internal/profile"
)

const (
	// Prefix is where the addresses of sources begin.
	Prefix = "/sources/"
	suffix = "/records"
	// maxRequests and maxOfSource bound the bodies that are read at a time, each of up to
	// 16 MB: in all, and of a source.
	maxRequests = 16
	maxOfSource = 4
	// requestTime bounds a request.
	requestTime = 2 * time.Minute
	// pausedFor is when a sender may try again while its source is paused, in seconds.
	pausedFor = 300
)

// Handler answers POST /sources/{id}/records. What was stored, also as a reject, is answered
// by 200: senders repeat everything else.
type Handler struct {
	*Intake
	Log      *slog.Logger
	requests atomic.Int64
	ofSource *limit.Counts
}

// NewHandler returns the handler.
func NewHandler(intake *Intake, log *slog.Logger) *Handler {
	return &Handler{Intake: intake, Log: log, ofSource: limit.NewCounts(maxOfSource)}
}

var (
	errMethod  = problem.New(problem.WrongMethod, "", "this path serves POST").With("Allow", http.MethodPost)
	errUnknown = problem.New(string(domain.KindUnauthorized), "", "there is no such source, or its secret is another")
	errBusy    = problem.New(string(domain.KindUnavailable), "", "too many bodies are read at this time, try again later")
)

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTime)
	defer cancel()
	counts, err := h.serve(ctx, w, r)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(CountsLine(counts)) // the sender may be gone
}

func (h *Handler) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) (source.Counts, error) {
	id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, Prefix), suffix)
	if !ok || strings.Contains(id, "/") {
		return source.Counts{}, problem.New(problem.NoRoute, "", "there is no such path")
	}
	if r.Method != http.MethodPost {
		return source.Counts{}, errMethod
	}
	if h.requests.Add(1) > maxRequests {
		h.requests.Add(-1)
		return source.Counts{}, errBusy
	}
	defer h.requests.Add(-1)
	of, err := h.Sources.Open(ctx, id)
	if err != nil {
		if missing, ok := domain.AsError(err); ok && missing.Kind == domain.KindNotFound {
			err = errUnknown
		}
		return source.Counts{}, err
	}
	leave, ok := h.ofSource.Enter(of.SourceID)
	if !ok {
		return source.Counts{}, errBusy
	}
	defer leave()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(requestTime))
	body, err := admit(of, r, profile.Bounded(r.Body, profile.MaxBody))
	if err != nil {
		return source.Counts{}, err
	}
	if of.PausedAt != nil {
		return source.Counts{}, errPaused()
	}
	plain, err := profile.Decompress(body, r.Header.Get("Content-Encoding"))
	if err != nil {
		return source.Counts{}, tooLarge(err)
	}
	counts, err := h.Take(ctx, of, plain, Options{})
	return counts, tooLarge(err)
}

// errPaused asks senders to come again.
func errPaused() error {
	paused := problem.New(string(domain.KindUnavailable), "", "the source is paused")
	paused.Wait = pausedFor
	return paused
}

// tooLarge presents a body that has more than a bound.
func tooLarge(err error) error {
	if errors.Is(err, profile.ErrTooLarge) {
		return problem.New(problem.TooLarge, "", err.Error())
	}
	return err
}

// admit returns the body of a sender that knows the secret. A signature is over all of it.
func admit(of *source.Opened, r *http.Request, body io.Reader) (io.Reader, error) {
	var given string
	switch of.Authentication {
	case source.Basic:
		_, given, _ = r.BasicAuth()
	case source.Bearer:
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if ascii.EqualFold(scheme, "Bearer") {
			given = token
		}
	case source.Signature:
		return signed(of, r, body)
	}
	for _, secret := range of.Secrets {
		if subtle.ConstantTimeCompare([]byte(given), secret) == 1 {
			return body, nil
		}
	}
	return nil, refused(of)
}

func refused(of *source.Opened) error {
	challenge := "Bearer"
	if of.Authentication == source.Basic {
		challenge = `Basic realm="simgraph"`
	}
	return problem.New(errUnknown.Code, "", errUnknown.Message).With("WWW-Authenticate", challenge)
}

func signed(of *source.Opened, r *http.Request, body io.Reader) (io.Reader, error) {
	given := strings.TrimPrefix(r.Header.Get(of.SignatureHeader), "sha256=")
	if given == "" {
		return nil, refused(of)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, tooLarge(err)
	}
	for _, secret := range of.Secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = mac.Write(text) // never fails
		sum := mac.Sum(nil)
		for _, want := range []string{hex.EncodeToString(sum), base64.StdEncoding.EncodeToString(sum)} {
			if subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1 {
				return bytes.NewReader(text), nil
			}
		}
	}
	return nil, refused(of)
}

// Refuse answers a request of which nothing was stored.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	id := w.Header().Get("X-Request-Id")
	p := problem.Of(err)
	if p.Code == problem.Internal {
		h.Log.Error("records of a source were not stored", slog.String("requestId", id), slog.Any("error", err))
		p = problem.New(string(domain.KindUnavailable), "", p.Message) // senders give up at other errors
	}
	p.Write(w, r, id)
}

// byName are counts as answers name them.
func byName(counts source.Counts) map[string]int64 {
	return map[string]int64{
		"accepted": counts.Accepted, "duplicates": counts.Duplicates, "waiting": counts.Waiting, "rejected": counts.Rejected, "skipped": counts.Skipped,
	}
}

// CountsLine is the line of JSON that ends an answer.
func CountsLine(counts source.Counts) []byte {
	line, _ := json.Marshal(byName(counts)) // numbers cannot fail
	return append(line, '\n')
}
