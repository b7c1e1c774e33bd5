package transport

import (
	"encoding/json"
	"errors"
)

// message is one of graphql-transport-ws that came from the client.
type message struct {
	kind    string
	id      string
	payload map[string]any // of connection_init, ping and pong
	raw     json.RawMessage
	request *request // of subscribe
}

// longestID bounds what a client makes the server remember for an operation.
const longestID = 512

var errMessage = errors.New("not a message of graphql-transport-ws")

// parseMessage reads a message and refuses all that the protocol does not define.
func parseMessage(data []byte) (*message, error) {
	object, err := decodeObject(data)
	if err != nil {
		return nil, err
	}
	m := &message{raw: object["payload"]}
	if m.kind, err = stringIn(object, "type"); err != nil {
		return nil, err
	}
	if m.id, err = stringIn(object, "id"); err != nil {
		return nil, err
	}
	switch m.kind {
	case "connection_init", "ping", "pong":
		m.payload, err = m.object()
	case "subscribe":
		if err = m.identified(); err == nil {
			m.request, err = decodeRequest(m.raw)
		}
	case "complete":
		err = m.identified()
	default:
		err = errMessage
	}
	return m, err
}

func (m *message) identified() error {
	if m.id == "" || len(m.id) > longestID {
		return errMessage
	}
	return nil
}

// object reads a payload that may be absent, but not null.
func (m *message) object() (map[string]any, error) {
	if m.raw == nil {
		return nil, nil
	}
	object, err := decodeMap(m.raw, "payload")
	if object == nil {
		return nil, errMessage
	}
	return object, err
}

// formatMessage writes a message for the client; what is empty is left out.
func formatMessage(kind, id string, payload []byte) []byte {
	b := make([]byte, 0, len(payload)+len(id)+64)
	b = append(append(append(b, `{"type":"`...), kind...), '"')
	if id != "" {
		quoted, _ := json.Marshal(id)
		b = append(append(b, `,"id":`...), quoted...)
	}
	if payload != nil {
		b = append(append(b, `,"payload":`...), payload...)
	}
	return append(b, '}')
}
