package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// readEvery is the pace of the reads beside an operation: 50 a second.
	readEvery = 20 * time.Millisecond
	// operationChunk is how many rows an operation changes in a transaction.
	operationChunk = 1000
)

const (
	// bareBars are what an operation must do at least, a chunk at a time.
	bareBars  = `UPDATE subscribers SET is_barred = $4 WHERE company_id = $1 AND key IN (SELECT key FROM subscribers WHERE company_id = $1 AND key > $2 ORDER BY key LIMIT $3) RETURNING key`
	readOne   = `query ($id: String!) { subscriber(by: {physicalId: $id}) { nickname isBarred dataUsage group { name } tags { name } } }`
	barAll    = `mutation ($expect: Int!) { of: startSubscriberChange(input: { all: true, change: { isBarred: true }, errorPolicy: REJECT_FAILED_ROWS, expect: $expect }) { operation { operationId } } }`
	undoAll   = `mutation ($id: String!) { of: undoOperation(input: { operationId: $id }) { operation { operationId } } }`
	howFarIs  = `query ($id: String!) { operation(by: {operationId: $id}) { state changed } }`
	readsAt   = 250 // how many reads are compared before an operation
	pollEvery = 250 * time.Millisecond
)

// operations changes all subscribers by one operation of the server and undoes it, beside
// the same rows changed by bare statements, and reads meanwhile.
func (b *bench) operations(ctx context.Context) error {
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	server, err := startServer(ctx, b.simgraph, b.url, noLimits...)
	if err != nil {
		return err
	}
	defer server.stop()
	o := &operated{bench: b, server: server, token: token}
	bare, err := o.bare(ctx)
	if err != nil {
		return err
	}
	quiet, err := o.reads(ctx, readsAt, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Operations\n\n%d subscribers, chunks of %d; a read beside it is one subscriber with group, tags and usage, %.0f a second.\n\n", b.subscribers, operationChunk, 1/readEvery.Seconds())
	fmt.Fprintf(b.out, "| | rows/s | CPU a row, database | server | resident memory of the server, MB | read p50 | p95 |\n|---|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(b.out, "| bare UPDATE | %.0f | %s | | | %s | %s |\n", bare.rate, micros(bare.database), millis(quiet[0]), millis(quiet[1]))
	id := ""
	for _, step := range []struct {
		name, query string
		variables   map[string]any
	}{{"bar all", barAll, map[string]any{"expect": b.subscribers}}, {"undo", undoAll, nil}} {
		if step.variables == nil {
			step.variables = map[string]any{"id": id}
		}
		row, operation, err := o.run(ctx, step.query, step.variables)
		if err != nil {
			return err
		}
		id = operation
		fmt.Fprintf(b.out, "| %s | %.0f | %s | %s | %d to %d | %s | %s |\n", step.name, row.rate, micros(row.database), micros(row.server),
			slices.Min(row.resident), slices.Max(row.resident), millis(row.reads[0]), millis(row.reads[1]))
	}
	return nil
}

// operated is a server that operations run on.
type operated struct {
	*bench
	server *program
	token  string
}

// operatedRow is what was measured of an operation: rows a second, CPU a row, samples of
// memory in MB, and p50 and p95 of reads.
type operatedRow struct {
	rate             float64
	database, server time.Duration
	resident         []int
	reads            [2]time.Duration
}

// bare changes all rows and back, and measures the first.
func (o *operated) bare(ctx context.Context) (row operatedRow, err error) {
	for _, barred := range []bool{true, false} {
		began, cpu, rows := time.Now(), o.cpu.total(), 0
		for last := int64(-1); ; {
			var keys []int64
			if err := o.pool.SelectContext(ctx, &keys, bareBars, o.scope.Company, last, operationChunk, barred); err != nil {
				return row, err
			}
			if len(keys) == 0 {
				break
			}
			rows, last = rows+len(keys), slices.Max(keys)
		}
		if barred {
			row.rate, row.database = float64(rows)/time.Since(began).Seconds(), (o.cpu.total()-cpu)/time.Duration(rows)
		}
	}
	_, err = o.pool.ExecContext(ctx, "VACUUM subscribers")
	return row, err
}

// reads reads subscribers at the pace until so many were, or until the end, and returns
// p50 and p95.
func (o *operated) reads(ctx context.Context, many int, end <-chan struct{}) (quantiles [2]time.Duration, err error) {
	var took []time.Duration
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for n := 0; many == 0 || n < many; n++ {
		began := time.Now()
		var answer any
		if err := o.ask(ctx, readOne, map[string]any{"id": fmt.Sprintf("8944%015d", n*7919%o.subscribers)}, &answer); err != nil {
			return quantiles, err
		}
		took = append(took, time.Since(began))
		select {
		case <-end:
			many = n + 1
		case <-tick.C:
		}
	}
	slices.Sort(took)
	return [2]time.Duration{took[len(took)/2], took[len(took)*95/100]}, nil
}

// run starts an operation and waits for its end.
func (o *operated) run(ctx context.Context, query string, variables map[string]any) (row operatedRow, id string, err error) {
	began, cpu, own := time.Now(), o.cpu.total(), o.server.cpu()
	var started struct {
		Of struct{ Operation struct{ OperationID string } }
	}
	if err := o.ask(ctx, query, variables, &started); err != nil {
		return row, "", err
	}
	id = started.Of.Operation.OperationID
	end := make(chan struct{})
	var reading sync.WaitGroup
	var failed error
	reading.Go(func() { row.reads, failed = o.reads(ctx, 0, end) })
	changed, err := o.wait(ctx, id, &row)
	took := time.Since(began)
	close(end)
	reading.Wait()
	if err := errors.Join(err, failed); err != nil {
		return row, "", err
	}
	if changed != o.subscribers {
		return row, "", fmt.Errorf("%d of %d rows were changed", changed, o.subscribers)
	}
	row.rate = float64(changed) / took.Seconds()
	row.database, row.server = (o.cpu.total()-cpu)/time.Duration(changed), (o.server.cpu()-own)/time.Duration(changed)
	return row, id, nil
}

// wait samples the memory of the server until the operation has ended.
func (o *operated) wait(ctx context.Context, id string, row *operatedRow) (changed int, err error) {
	for {
		row.resident = append(row.resident, resident(o.server.pid))
		var now struct {
			Operation struct {
				State   string
				Changed int
			}
		}
		if err := o.ask(ctx, howFarIs, map[string]any{"id": id}, &now); err != nil {
			return 0, err
		}
		if now.Operation.State != "RUNNING" {
			return now.Operation.Changed, nil
		}
		time.Sleep(pollEvery)
	}
}

// ask sends an operation to the graph.
func (o *operated) ask(ctx context.Context, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.server.address+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+o.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("%s: %s", strings.Fields(query)[0], answer.Errors[0].Message)
	}
	return json.Unmarshal(answer.Data, into)
}
