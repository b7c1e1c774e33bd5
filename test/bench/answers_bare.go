package main

import (
	"context"
	"database/sql"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

func init() { gob.Register(time.Time{}) }

// bareRequest requests from the bare handler the rows of a workload, limitRequest the
// limit for its JSON.
func (w *workload) bareRequest(address string) *http.Request {
	return w.ceilingRequest(address + "/bare")
}
func (w *workload) limitRequest(address string) *http.Request {
	return w.ceilingRequest(address + "/limit")
}

func (w *workload) ceilingRequest(of string) *http.Request {
	r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s?workload=%d&variant=%d", of, w.Number, rand.IntN(len(w.Variants))), nil)
	if err != nil {
		panic(err) // the address is that of a listener
	}
	return r
}

// runCeilings serves the two ceilings, in a process of its own, for the workloads
// on standard input. The bare handler runs their statements on a pool like the
// server's, and encodes every row by hand. It has no schema, checks nobody and
// puts nothing together.
func runCeilings(ctx context.Context, url string, listener net.Listener) error {
	runtime.MemProfileRate = 8 << 20 // as the server
	var workloads []*workload
	if err := gob.NewDecoder(os.Stdin).Decode(&workloads); err != nil {
		return err
	}
	pool, err := pg.Open(ctx, url, pg.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	limit, err := newLimitHandler(ctx, url, workloads)
	if err != nil {
		return err
	}
	paths := http.NewServeMux()
	paths.Handle("/bare", &bareHandler{pool, workloads})
	paths.Handle("/limit", limit)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: paths}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

type bareHandler struct {
	pool      *sqlx.DB
	workloads []*workload
}

var bareBuffers = sync.Pool{New: func() any { return new([]byte) }}

func (h *bareHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, v := variantOf(r, h.workloads)
	if v == nil {
		http.NotFound(w, r)
		return
	}
	kept := bareBuffers.Get().(*[]byte)
	b := (*kept)[:0]
	b = append(b, '[')
	for i, s := range v.Statements {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendRows(r.Context(), b, h.pool, s); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	b = append(b, ']')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the client may be gone
	*kept = b
	bareBuffers.Put(kept)
}

func appendRows(ctx context.Context, b []byte, pool *sqlx.DB, s statement) ([]byte, error) {
	rows, err := pool.QueryContext(ctx, s.SQL, s.Args...)
	if err != nil {
		return b, err
	}
	defer func() { _ = rows.Close() }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return b, err
	}
	columns := make([]bareColumn, len(types))
	destinations := make([]any, len(types))
	for i, t := range types {
		columns[i] = newBareColumn(t, i)
		destinations[i] = &columns[i].value
	}
	b = append(b, '[')
	for first := true; rows.Next(); first = false {
		if err := rows.Scan(destinations...); err != nil {
			return b, err
		}
		if !first {
			b = append(b, ',')
		}
		for i := range columns {
			b = columns[i].append(b)
		}
		b = append(b, '}')
	}
	return append(b, ']'), rows.Err()
}

// bareColumn writes the values of a column.
type bareColumn struct {
	key    string
	quoted bool
	value  sql.RawBytes
}

func newBareColumn(t *sql.ColumnType, i int) bareColumn {
	c := bareColumn{key: `,"` + t.Name() + `":`}
	if i == 0 {
		c.key = "{" + c.key[1:]
	}
	switch t.DatabaseTypeName() {
	case "INT2", "INT4", "INT8", "FLOAT8", "NUMERIC", "BOOL":
	default:
		c.quoted = true
	}
	return c
}

func (c *bareColumn) append(b []byte) []byte {
	b = append(b, c.key...)
	switch {
	case c.value == nil:
		return append(b, "null"...)
	case !c.quoted:
		return append(b, c.value...)
	}
	b = append(b, '"')
	for _, char := range c.value {
		if char == '"' || char == '\\' {
			b = append(b, '\\')
		}
		b = append(b, char)
	}
	return append(b, '"')
}
