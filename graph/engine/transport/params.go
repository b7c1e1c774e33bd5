package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"simgraph/graph/engine/input"
)

// errBody refuses a body that is something else.
var errBody = errors.New("the body must be one JSON object")

// decodeObject reads one JSON object and nothing after it. Unlike with a
// struct, names are matched exactly.
func decodeObject(body []byte) (map[string]json.RawMessage, error) {
	body, err := single(body)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return nil, errBody
	}
	return object, nil
}

// single trims a body, and refuses what no decoder would.
func single(body []byte) ([]byte, error) {
	if err := input.CheckJSON(body); err != nil {
		return nil, err
	}
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		return nil, errors.New("batches are not supported: send one operation per request")
	}
	return body, nil
}

// decodeRequest reads the parameters of an operation.
func decodeRequest(body []byte) (*request, error) {
	body, err := single(body)
	if err != nil {
		return nil, err
	}
	// All at once: to read the object first and its members then takes twice as
	// long, on the way of every request.
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil || decoder.InputOffset() != int64(len(body)) {
		return nil, errBody
	}
	r := new(request)
	if r.query, err = parameter[string](object, "query", "string"); err != nil {
		return nil, err
	}
	if r.documentID, err = parameter[string](object, "documentId", "string"); err != nil {
		return nil, err
	}
	if r.operationName, err = parameter[string](object, "operationName", "string"); err != nil {
		return nil, err
	}
	if r.variables, err = parameter[map[string]any](object, "variables", "JSON object"); err != nil {
		return nil, err
	}
	if r.extensions, err = parameter[map[string]any](object, "extensions", "JSON object"); err != nil {
		return nil, err
	}
	return r, r.complete()
}

// parameter returns the zero T for one that is absent or null.
func parameter[T any](object map[string]any, name, kind string) (T, error) {
	value, ok := object[name].(T)
	if !ok && object[name] != nil {
		return value, fmt.Errorf("%s must be a %s", name, kind)
	}
	return value, nil
}

func (r *request) complete() error {
	switch {
	case r.query != "" && r.documentID != "":
		return errors.New("query and documentId must not be given together")
	case r.query == "" && r.documentID == "" && r.extensions["persistedQuery"] == nil:
		return errors.New("query or documentId must be given")
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
	for _, name := range []string{"query", "documentId", "operationName", "variables", "extensions"} {
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("%s is given twice", name)
		}
	}
	r := &request{query: values.Get("query"), documentID: values.Get("documentId"), operationName: values.Get("operationName")}
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
