package ingest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"simgraph/domain"
)

// begin writes the header, once.
func (s *stream) begin() {
	if s.answered {
		return
	}
	s.answered = true
	begin(s.w)
}

func begin(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "application/x-ndjson")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// answer sends a line for each record of a batch that is committed.
func (s *stream) answer(batch []readLine, results []domain.Recorded) error {
	s.begin()
	s.out = s.out[:0]
	for i, line := range batch {
		s.out = appendResult(s.out, line.Line, results[i])
	}
	if _, err := s.w.Write(s.out); err != nil {
		return err
	}
	return s.control.Flush()
}

// appendResult appends {"line":1,"status":"accepted"}, with reason and field
// where there are any.
func appendResult(b []byte, line int, r domain.Recorded) []byte {
	b = strconv.AppendInt(append(b, `{"line":`...), int64(line), 10)
	b = append(append(append(b, `,"status":"`...), r.Status...), '"')
	if r.Err != nil {
		b = appendText(append(b, `,"reason":`...), r.Err.Message)
		if r.Err.Field != "" {
			b = appendText(append(b, `,"field":`...), r.Err.Field)
		}
	}
	return append(b, "}\n"...)
}

func appendText(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a text cannot fail
	return append(b, quoted...)
}
