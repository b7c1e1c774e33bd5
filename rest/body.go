package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/graph/engine/input"
	"simgraph/internal/held"
	"simgraph/internal/problem"
)

const (
	// maxBody bounds a request body in bytes.
	maxBody = 1 << 20
	// maxDetails is how many faults of one body are named.
	maxDetails = 20
)

// checkMedia refuses a body that is declared to be anything but JSON in UTF-8.
// One that is not declared is taken for it.
func checkMedia(h http.Header) error {
	if coding := h.Get("Content-Encoding"); coding != "" && !ascii.EqualFold(coding, "identity") {
		return problem.New(problem.MediaType, "", "a body must come without Content-Encoding")
	}
	declared := h.Values("Content-Type")
	if len(declared) == 0 {
		return nil
	}
	media, params, err := mime.ParseMediaType(declared[0])
	charset := params["charset"]
	if err != nil || len(declared) > 1 || media != "application/json" || charset != "" && !ascii.EqualFold(charset, "utf-8") {
		return problem.New(problem.MediaType, "", "a body must be JSON in UTF-8, with the header Content-Type: application/json")
	}
	return nil
}

// openBody returns a reader of no more than maxBody, of which the caller calls Release when the
// body is not needed any more.
func openBody(ctx context.Context, w http.ResponseWriter, r *http.Request) (*held.Reader, error) {
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	owner := ""
	if caller, err := domain.CallerOf(ctx); err == nil {
		owner = caller.Company.ExternalID
	}
	return held.NewReader(http.MaxBytesReader(w, r.Body, maxBody), owner, maxBody), nil
}

func readBody(in *held.Reader) ([]byte, error) {
	body, err := io.ReadAll(in)
	if errors.Is(err, held.ErrFull) {
		return nil, &domain.Error{Kind: domain.KindUnavailable, Message: err.Error()}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, badBody("", "the body could not be read")
	}
	return body, nil
}

func tooLarge() *problem.Problem {
	return problem.New(problem.TooLarge, "", fmt.Sprintf("a body may have at most %d bytes", maxBody))
}

// member is a field of a body and its value as a JSON token.
type member struct {
	name  string
	value json.Token
}

// parseBody reads a flat JSON object, each field at most once.
func parseBody(body []byte) ([]member, error) {
	if err := input.CheckJSON(body); err != nil {
		return nil, badBody("", err.Error())
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, badBody("", "a body is required: a JSON object")
	}
	if !json.Valid(body) {
		return nil, badBody("", "the body is not one JSON value")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if first, _ := decoder.Token(); first != json.Delim('{') {
		return nil, badBody("", "the body must be a JSON object")
	}
	return readMembers(decoder)
}

// readMembers goes on after the opening brace of valid JSON.
func readMembers(decoder *json.Decoder) ([]member, error) {
	var members []member
	seen := map[string]bool{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string)
		value, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, badBody(clip(name), fmt.Sprintf("%.100q is given twice", name))
		}
		seen[name] = true
		members = append(members, member{name, value})
	}
	return members, nil
}

// readValue returns the next value of valid JSON; of an object or a list, which no
// field takes, its opening delimiter.
func readValue(decoder *json.Decoder) (json.Token, error) {
	value, err := decoder.Token()
	depth := 0
	for token := value; err == nil; token, err = decoder.Token() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return value, err
}

// faults collects what is wrong with the fields of a body.
type faults []problem.Detail

func (f *faults) add(field, format string, args ...any) {
	if len(*f) < maxDetails {
		*f = append(*f, problem.Detail{Field: clip(field), Reason: fmt.Sprintf(format, args...)})
	}
}

// err returns one error about all the faults; its message is the first.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &problem.Problem{Code: problem.InvalidBody, Message: f[0].Reason, Details: f}
}

// clip shortens what a caller called a field.
func clip(name string) string { return fmt.Sprintf("%.100s", name) }
