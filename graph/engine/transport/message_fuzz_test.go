package transport

import (
	"encoding/json"
	"testing"
)

func FuzzMessage(f *testing.F) {
	for _, text := range []string{
		`{"type":"connection_init"}`, `{"type":"connection_init","payload":{"authorization":"Bearer x"}}`, `{"type":"ping","payload":null}`,
		`{"type":"subscribe","id":"1","payload":{"query":"{a}"}}`, `{"type":"subscribe","id":"","payload":{}}`, `{"type":"complete","id":"1"}`,
		`{"type":"next"}`, `[]`, `null`, `{"type":1}`, `{"type":"ping"}{}`, `{"type":"subscribe","id":"1"}`, "\xff", `{"type":"ping","payload":[]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMessage(data)
		if err != nil {
			return
		}
		isOperation := m.kind == "subscribe" || m.kind == "complete"
		if isOperation && (m.id == "" || len(m.id) > longestID) || m.kind == "subscribe" && m.request == nil {
			t.Errorf("%s is taken for %+v", data, m)
		}
		if answer := formatMessage("next", m.id, nil); !json.Valid(answer) {
			t.Errorf("the id %q is answered %s", m.id, answer)
		}
	})
}

func FuzzQueryRequest(f *testing.F) {
	for _, text := range []string{
		"query={a}", "query=%7Ba%7D&variables=%7B%22a%22:1%7D", "query=%zz", "query=a&query=b", "query={a};x", "variables=[]&query=a",
		"extensions={}&operationName=a&query=b", "", "query=a&variables={", "query=%00", "query=%ff&extensions=null",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := queryRequest(text); err == nil && r.complete() != nil {
			t.Errorf("%q asks for nothing", text)
		}
	})
}
