package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"simgraph/graph/input"
)

// decodeObject reads one JSON object and nothing after it. Unlike with a
// struct, names are matched exactly.
func decodeObject(body []byte) (map[string]json.RawMessage, error) {
	if err := input.CheckJSON(body); err != nil {
		return nil, err
	}
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		return nil, errors.New("batches are not supported: send one operation per request")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return nil, errors.New("the body must be one JSON object")
	}
	return object, nil
}

// decodeRequest reads the parameters of an operation.
func decodeRequest(body []byte) (*request, error) {
	object, err := decodeObject(body)
	if err != nil {
		return nil, err
	}
	r := new(request)
	if r.query, err = stringIn(object, "query"); err != nil {
		return nil, err
	}
	if r.operationName, err = stringIn(object, "operationName"); err != nil {
		return nil, err
	}
	if r.variables, err = objectIn(object, "variables"); err != nil {
		return nil, err
	}
	if r.extensions, err = objectIn(object, "extensions"); err != nil {
		return nil, err
	}
	return r, r.complete()
}

func (r *request) complete() error {
	if r.query == "" && r.extensions["persistedQuery"] == nil {
		return errors.New("query must be given")
	}
	return nil
}

func stringIn(object map[string]json.RawMessage, name string) (string, error) {
	raw := object[name]
	if raw == nil || string(raw) == "null" {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("%s must be a string", name)
	}
	return text, nil
}

func objectIn(object map[string]json.RawMessage, name string) (map[string]any, error) {
	raw := object[name]
	if raw == nil {
		return nil, nil
	}
	return decodeMap(raw, name)
}

// decodeMap reads an object or null. Numbers keep all their digits.
func decodeMap(raw []byte, name string) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || decoder.More() {
		return nil, fmt.Errorf("%s must be a JSON object", name)
	}
	return object, nil
}

// queryRequest reads the parameters of an operation from the query of a URL.
func queryRequest(rawQuery string) (*request, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, errors.New("the query string is malformed")
	}
	for _, name := range []string{"query", "operationName", "variables", "extensions"} {
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("%s is given twice", name)
		}
	}
	r := &request{query: values.Get("query"), operationName: values.Get("operationName")}
	if r.variables, err = objectParameter(values, "variables"); err != nil {
		return nil, err
	}
	if r.extensions, err = objectParameter(values, "extensions"); err != nil {
		return nil, err
	}
	return r, r.complete()
}

func objectParameter(values url.Values, name string) (map[string]any, error) {
	text := values.Get(name)
	if text == "" {
		return nil, nil
	}
	if err := input.CheckJSON([]byte(text)); err != nil {
		return nil, fmt.Errorf("%s must be valid JSON in UTF-8", name)
	}
	return decodeMap([]byte(text), name)
}
