package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

const (
	// hostileMost is what a server may have resident under each input, in MB.
	hostileMost = 300
	// hostileTime is how long the inputs last that have no end.
	hostileTime    = 10 * time.Second
	hostileUploads = 4
	// uploadBytes are of one upload of as many rows as an operation has.
	uploadBytes, uploadRows = 21 << 20, 200_000
	slowReaders             = 500
	deepSenders, deepBytes  = 64, 1 << 20
	manySockets             = 1_000
	wideStreams             = 64
)

// hostile measures the peak of resident memory of a server under each input that strangers
// choose, each in a process of its own.
func (b *bench) hostile(ctx context.Context) error {
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Hostile input\n\n| input | resident memory of the server: peak, MB | answers |\n|---|--:|---|\n")
	tooMuch := []string{}
	for _, c := range []struct {
		name string
		run  func(h *hostileServer, ctx context.Context) error
	}{
		{"none", func(*hostileServer, context.Context) error { return nil }},
		{fmt.Sprintf("%d uploads of %d MB to `POST /operations` at once", hostileUploads, uploadBytes>>20), (*hostileServer).uploads},
		{"RADIUS packets of 4 kB, as fast as one sender can", (*hostileServer).packets},
		{fmt.Sprintf("%d connections that take no answer, `GET /subscribers?limit=1000`", slowReaders), (*hostileServer).slow},
		{fmt.Sprintf("%d senders of %d MB of nested JSON to `POST /graphql`", deepSenders, deepBytes>>20), (*hostileServer).deep},
		{fmt.Sprintf("%d WebSockets with a subscription and a message of 1 MB each", manySockets), (*hostileServer).sockets},
		{fmt.Sprintf("%d streams of records with texts as long as they may be", wideStreams), (*hostileServer).streams},
	} {
		peak, answers, err := b.under(ctx, token, c.run)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(b.out, "| %s | %d | %s |\n", c.name, peak, answers)
		if peak > hostileMost {
			tooMuch = append(tooMuch, c.name)
		}
	}
	if len(tooMuch) > 0 {
		return fmt.Errorf("more than %d MB under: %s", hostileMost, strings.Join(tooMuch, "; "))
	}
	return nil
}

// hostileServer is a server that one input is sent to.
type hostileServer struct {
	*program
	token string
	mu    sync.Mutex
	// answered counts the answers by status.
	answered map[string]int
}

func (h *hostileServer) count(answer string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered[answer]++
}

// under starts a server, sends it an input and returns the peak of its resident memory in MB.
func (b *bench) under(ctx context.Context, token string, run func(*hostileServer, context.Context) error) (peak int, answers string, err error) {
	dir, err := os.MkdirTemp(b.dir, "simgraph-hostile-")
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	address, err := freeAddress()
	if err != nil {
		return 0, "", err
	}
	server, err := startServerAt(ctx, address, b.simgraph, b.url, append(noLimits, "--data-dir", dir, "--radius-addr", address, "--log-level", "error")...)
	if err != nil {
		return 0, "", err
	}
	defer server.stop()
	h := &hostileServer{program: server, token: token, answered: map[string]int{}}
	if err := run(h, ctx); err != nil {
		return 0, "", err
	}
	if _, err := http.Get(h.address + "/healthz"); err != nil { //nolint:bodyclose // it has answered, which is enough
		return 0, "", fmt.Errorf("the server does not answer any more: %w", err)
	}
	for answer, n := range h.answered {
		answers += fmt.Sprintf("%d × %s ", n, answer)
	}
	return memory(server.pid, "VmHWM:"), answers, nil
}

// post sends a body of that size and counts the answer.
func (h *hostileServer) post(ctx context.Context, path, media string, body io.Reader) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address+path, body)
	if err != nil {
		h.count(err.Error())
		return
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Authorization", "Bearer "+h.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.count("no answer")
		return
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	h.count(strconv.Itoa(answer.StatusCode))
}

// together runs as many senders, and returns when all have ended.
func together(senders int, send func(n int)) {
	var all sync.WaitGroup
	for n := range senders {
		all.Go(func() { send(n) })
	}
	all.Wait()
}

func (h *hostileServer) uploads(ctx context.Context) error {
	var file bytes.Buffer
	file.WriteString("physicalId,addTags,nickname\n")
	for n := range uploadRows {
		fmt.Fprintf(&file, "upload%013d,%s|b,%s\n", n, strings.Repeat("t", 40), strings.Repeat("n", uploadBytes/uploadRows-64))
	}
	together(hostileUploads, func(int) {
		h.post(ctx, "/operations?validateOnly=true&errorPolicy=REJECT_FAILED_ROWS", "text/csv", bytes.NewReader(file.Bytes()))
	})
	return nil
}

func (h *hostileServer) packets(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", strings.TrimPrefix(h.address, "http://"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	sent := 0
	for end := time.Now().Add(hostileTime); time.Now().Before(end); sent++ {
		p := radius.New(radius.CodeAccountingRequest, feedSecret)
		p.Identifier = byte(sent)
		_ = rfc2866.AcctSessionID_SetString(p, strconv.Itoa(sent))
		_ = rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_InterimUpdate)
		for range 15 {
			_ = rfc2865.ReplyMessage_AddString(p, strings.Repeat("x", 253))
		}
		packet, err := p.Encode()
		if err != nil {
			return err
		}
		_, _ = conn.Write(packet)
	}
	h.count(fmt.Sprintf("%d packets sent", sent))
	return nil
}

func (h *hostileServer) slow(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, hostileTime)
	defer stop()
	together(slowReaders, func(int) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(h.address, "http://"))
		if err != nil {
			h.count("no connection")
			return
		}
		defer func() { _ = conn.Close() }()
		_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
		for range 20 {
			_, _ = fmt.Fprintf(conn, "GET /subscribers?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", h.token)
		}
		<-ctx.Done()
		h.count("connection held")
	})
	return nil
}

func (h *hostileServer) deep(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 3*hostileTime)
	defer stop()
	const head = `{"query":"query ($f: SubscriberFilter) {subscribers(filter: $f) {totalCount}}","variables":{"f":`
	half := (deepBytes - len(head) - 16) / 7
	body := head + strings.Repeat(`{"or":[`, half/2) + strings.Repeat(`[`, half)
	end := time.Now().Add(hostileTime)
	together(deepSenders, func(int) {
		for time.Now().Before(end) && ctx.Err() == nil {
			h.post(ctx, "/graphql", "application/json", strings.NewReader(body))
		}
	})
	return nil
}

func (h *hostileServer) sockets(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 3*hostileTime)
	defer stop()
	var held sync.WaitGroup
	defer held.Wait()
	var opened sync.WaitGroup
	release := make(chan struct{})
	defer close(release)
	large := `{"type":"subscribe","id":"2","payload":{"query":"` + strings.Repeat(" ", deepBytes-200) + `{viewer{email}}"}}`
	for range manySockets {
		opened.Add(1)
		held.Go(func() {
			conn, err := h.socket(ctx, large)
			h.count(map[bool]string{true: "open", false: "refused"}[err == nil])
			opened.Done()
			<-release
			if err == nil {
				_ = conn.CloseNow()
			}
		})
	}
	opened.Wait()
	return ctx.Err()
}

func (h *hostileServer) socket(ctx context.Context, messages ...string) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, h.address+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}) //nolint:bodyclose // the connection has taken it over
	if err != nil {
		return nil, err
	}
	for _, text := range append([]string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + h.token + `"}}`,
		`{"type":"subscribe","id":"1","payload":{"query":"subscription {usageRecorded {bytes}}"}}`,
	}, messages...) {
		if err = conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			return nil, errors.Join(err, conn.CloseNow())
		}
	}
	return conn, nil
}

// streams sends records that are refused, whose texts are as long as lines may be, and takes
// no answer of most.
func (h *hostileServer) streams(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, hostileTime)
	defer stop()
	text := strings.Repeat("x", 250)
	together(wideStreams, func(n int) {
		body, input := io.Pipe()
		go func() {
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := fmt.Fprintf(input, `{"source":"%s","recordId":"%d-%d-%s","physicalId":"nobody%s","sessionId":"%s","startedAt":"2026-11-01T00:00:00Z",`+
					`"endedAt":"2026-11-01T00:00:01Z","mobileOriginated":1,"mobileTerminated":1,"protocol":"TCP","ipAddress":"10.0.0.1"}`+"\n", text, n, i, text[20:], text[:20], text); err != nil {
					return
				}
			}
			_ = input.CloseWithError(ctx.Err())
		}()
		h.post(ctx, "/usage/records", "application/x-ndjson", body)
	})
	return nil
}
