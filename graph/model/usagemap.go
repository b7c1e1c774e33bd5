package model

import (
	"bytes"
	"io"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
)

// UsageMap is a JSON object whose keys are data. It is written member by member,
// since there may be a great many. The zero value is an empty object.
type UsageMap struct{ members bytes.Buffer }

// Key begins a member; its value must follow: Text, Int, or Open to Close.
func (m *UsageMap) Key(key string) {
	if n := m.members.Len(); n > 0 && m.members.Bytes()[n-1] != '{' {
		m.members.WriteByte(',')
	}
	graphql.MarshalString(key).MarshalGQL(&m.members)
	m.members.WriteByte(':')
}

// Text is the value of a member.
func (m *UsageMap) Text(value string) { graphql.MarshalString(value).MarshalGQL(&m.members) }

// Int is the value of a member: a decimal string.
func (m *UsageMap) Int(value int64) {
	digits := append(strconv.AppendInt([]byte{'"'}, value, 10), '"')
	m.members.Write(digits)
}

// Open begins an object as the value of a member, Close ends it.
func (m *UsageMap) Open() { m.members.WriteByte('{') }

// Close ends an object.
func (m *UsageMap) Close() { m.members.WriteByte('}') }

// MarshalGQL writes the object.
func (m *UsageMap) MarshalGQL(w io.Writer) {
	// The writer is the response's buffer, which never fails.
	_, _ = w.Write([]byte{'{'})
	_, _ = w.Write(m.members.Bytes())
	_, _ = w.Write([]byte{'}'})
}

// UnmarshalGQL refuses: the scalar is for answers only.
func (m *UsageMap) UnmarshalGQL(any) error { return domain.Invalid("", "a UsageMap cannot be given") }
