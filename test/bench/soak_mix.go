package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// mix is what many clients request in turn.
type mix struct {
	soak  *soak
	turn  atomic.Int64
	kinds []func(n int64, address string) *http.Request
	run   int64
}

const recordsOfRequest = 20

func (s *soak) newMix() *mix {
	m := &mix{soak: s, run: time.Now().Unix()}
	// Of twenty requests: ten single subscribers, three lists, four writes, three batches of usage.
	m.kinds = []func(int64, string) *http.Request{
		m.one, m.rename, m.one, m.restOne, m.one, m.usage, m.list, m.one, m.rename, m.restOne,
		m.one, m.restList, m.usage, m.restOne, m.rename, m.one, m.list, m.usage, m.rename, m.one,
	}
	return m
}

func (m *mix) request(address string) *http.Request {
	n := m.turn.Add(1)
	return m.kinds[n%int64(len(m.kinds))](n, address)
}

func (m *mix) send(method, url, body string) *http.Request {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		panic(err) // the addresses are well-formed
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+m.soak.token)
	return r
}

func (m *mix) subscriber(n int64) string { return m.soak.physicalID(n) }

// physicalID is one of the fleet, each as likely as the others.
func (s *soak) physicalID(n int64) string {
	return fmt.Sprintf("8944%015d", 1+n*7919%int64(s.subscribers))
}

func (m *mix) graph(address, query string) *http.Request {
	body, _ := json.Marshal(map[string]string{"query": query})
	return m.send(http.MethodPost, address+"/graphql", string(body))
}

func (m *mix) one(n int64, address string) *http.Request {
	return m.graph(address, `{subscriber(by: {physicalId: "`+m.subscriber(n)+`"}) {nickname isActive group {name} tags {name}}}`)
}

func (m *mix) list(_ int64, address string) *http.Request {
	return m.graph(address, hundredSubscribers)
}

func (m *mix) rename(n int64, address string) *http.Request {
	return m.graph(address, fmt.Sprintf(`mutation {editSubscriber(input: {physicalId: "%s", nickname: "Meter %d"}) {subscriber {nickname}}}`, m.subscriber(n), n))
}

func (m *mix) restOne(n int64, address string) *http.Request {
	return m.send(http.MethodGet, address+"/subscribers/"+m.subscriber(n), "")
}

func (m *mix) restList(_ int64, address string) *http.Request {
	return m.send(http.MethodGet, address+"/subscribers?limit=100", "")
}

func (m *mix) usage(n int64, address string) *http.Request {
	var lines bytes.Buffer
	now := time.Now().UTC().Truncate(time.Second)
	for i := range int64(recordsOfRequest) {
		fmt.Fprintf(&lines, `{"source":"soak","recordId":"%d-%d-%d","physicalId":"%s","sessionId":"%d-%d","startedAt":"%s","endedAt":"%s",`+
			`"mobileOriginated":100,"mobileTerminated":200,"protocol":"TCP","ipAddress":"10.0.0.1"}`+"\n",
			m.run, n, i, m.subscriber(n+i*31), n, i, now.Add(-time.Minute).Format(time.RFC3339), now.Format(time.RFC3339))
	}
	return m.send(http.MethodPost, address+"/usage/records", lines.String())
}

// visit follows events for a while and leaves, again and again.
func (s *soak) visit(ctx context.Context, p *program) {
	for ctx.Err() == nil {
		stay, leave := context.WithTimeout(ctx, time.Second+rand.N(20*time.Second))
		_ = s.follow(stay, p) // one that fails comes back as well
		leave()
	}
}

func (s *soak) follow(ctx context.Context, p *program) error {
	options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}
	conn, _, err := websocket.Dial(ctx, p.address+"/graphql", options) //nolint:bodyclose // the connection has taken it over
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	subscription, _ := json.Marshal(map[string]string{"query": `subscription {usageRecorded(physicalIds: ["` + s.physicalID(rand.Int64N(int64(s.subscribers))) + `"]) {bytes usage}}`})
	for _, text := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + s.token + `"}}`,
		`{"type":"subscribe","id":"1","payload":` + string(subscription) + `}`,
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			return err
		}
	}
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return err
		}
	}
}
