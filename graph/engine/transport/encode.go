package transport

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// buffers are reused for answers, up to a size that is worth keeping.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const largestKept = 1 << 20

func buffer() *bytes.Buffer {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	return b
}

func release(b *bytes.Buffer) {
	if b.Cap() <= largestKept {
		buffers.Put(b)
	}
}

// encode writes a response as JSON. There is no data key in one that has no
// data, which distinguishes refused operations from failed ones. c is nil for those.
func encode(b *bytes.Buffer, resp *graphql.Response, c *call) {
	encodeBeforeData(b, resp)
	b.Write(resp.Data)
	encodeAfterData(b, resp, c)
}

func encodeBeforeData(b *bytes.Buffer, resp *graphql.Response) {
	b.WriteByte('{')
	if len(resp.Errors) > 0 {
		b.WriteString(`"errors":`)
		encodeValue(b, resp.Errors)
	}
	if resp.Data != nil {
		if len(resp.Errors) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"data":`)
	}
}

func encodeAfterData(b *bytes.Buffer, resp *graphql.Response, c *call) {
	if c != nil {
		if len(resp.Errors) > 0 || resp.Data != nil {
			b.WriteByte(',')
		}
		b.WriteString(`"extensions":`)
		encodeExtensions(b, resp.Extensions, c.cost)
	}
	b.WriteByte('}')
}

func encodeExtensions(b *bytes.Buffer, extensions map[string]any, cost int) {
	if len(extensions) > 0 {
		all := maps.Clone(extensions)
		all["cost"] = cost
		encodeValue(b, all)
		return
	}
	b.WriteString(`{"cost":`)
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(cost), 10))
	b.WriteByte('}')
}

// encodeValue writes any value; one that is no JSON becomes null.
func encodeValue(b *bytes.Buffer, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text = null
	}
	b.Write(text)
}
