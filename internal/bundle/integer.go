package bundle

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain/query"
)

// options are how lines are decoded.
var options = json.JoinOptions(
	json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(unmarshalInteger[int64]), json.UnmarshalFromFunc(unmarshalInteger[int]))),
)

// unmarshalInteger takes a number for an integer by its value, as all endpoints do:
// 5, 5.0 and 0.5e1 are the same number. Other values it leaves to the decoder.
func unmarshalInteger[T int | int64](in *jsontext.Decoder, n *T) error {
	if in.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	text, err := in.ReadValue()
	if err != nil {
		return err
	}
	whole, ok := query.ParseInteger(string(text), 64)
	if !ok {
		return &json.SemanticError{JSONKind: '0', JSONValue: text.Clone()}
	}
	*n = T(whole)
	return nil
}
