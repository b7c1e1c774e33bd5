package main

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/lib/pq"
)

// The limit of a workload is one statement that returns the finished JSON, with
// the total of the list where the answer has one.
//
//go:embed limit
var limitFiles embed.FS

func limitSQL(name string) string {
	text, err := limitFiles.ReadFile("limit/" + name + ".sql")
	if err != nil {
		panic(err) // the names are those of the workloads
	}
	return string(text)
}

// limitHandler is the least that a Go server can do for a workload: it runs one
// prepared statement and writes what that returns. It parses no request and
// checks no caller.
type limitHandler struct {
	statements []*sql.Stmt
	workloads  []*workload
}

func newLimitHandler(ctx context.Context, url string, workloads []*workload) (*limitHandler, error) {
	connector, err := pq.NewConnector(url)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(limitConns)
	pool.SetMaxIdleConns(limitConns)
	h := &limitHandler{workloads: workloads}
	for _, w := range workloads {
		statement, err := pool.PrepareContext(ctx, w.Limit) //nolint:sqlclosecheck // it is used until the process ends
		if err != nil {
			return nil, fmt.Errorf("the limit of %s: %w", w.Name, err)
		}
		h.statements = append(h.statements, statement)
	}
	return h, nil
}

// limitConns is as many connections as the server has by default.
const limitConns = 8

// ServeHTTP answers the variant of a workload that the address names.
func (h *limitHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, v := variantOf(r, h.workloads)
	if v == nil {
		http.NotFound(w, r)
		return
	}
	var body []byte
	var total sql.NullInt64
	if err := h.statements[number].QueryRowContext(r.Context(), v.LimitArgs...).Scan(&body, &total); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if total.Valid {
		w.Header().Set("X-Total-Count", strconv.FormatInt(total.Int64, 10))
	}
	_, _ = w.Write(body) // the client may be gone
}

// variantOf is what a request to a ceiling selects, nil for what there is not.
func variantOf(r *http.Request, workloads []*workload) (number int, v *variant) {
	query := r.URL.Query()
	number, err := strconv.Atoi(query.Get("workload"))
	if err != nil || number < 0 || number >= len(workloads) {
		return 0, nil
	}
	n, err := strconv.Atoi(query.Get("variant"))
	if err != nil || n < 0 || n >= len(workloads[number].Variants) {
		return 0, nil
	}
	return number, workloads[number].Variants[n]
}

// compare fails when the limit of a variant returns something else than the
// server: a limit that does less is none.
func (a *answers) compare(ctx context.Context, w *workload, v *variant, answer []byte) error {
	var body []byte
	var total sql.NullInt64
	if err := a.pool.QueryRowContext(ctx, w.Limit, v.LimitArgs...).Scan(&body, &total); err != nil {
		return fmt.Errorf("the limit of %s: %w", w.Name, err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(answer, &want); err != nil {
		return err
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	delete(want, "extensions")
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the limit of %s differs from the server's answer:\n%.2000s\n%.2000s", w.Name, body, bytes.TrimSpace(answer))
	}
	return nil
}
