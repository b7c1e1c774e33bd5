package bundle

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/note"
	"simgraph/domain/report"
	"simgraph/domain/source"
)

// Writer writes the lines of a bundle.
type Writer struct {
	buffer  *bufio.Writer
	encoder *jsontext.Encoder
}

// NewWriter returns a writer that buffers: call Flush after the last line.
func NewWriter(w io.Writer) *Writer {
	buffer := bufio.NewWriterSize(w, 64<<10)
	return &Writer{buffer, jsontext.NewEncoder(buffer)}
}

// Write appends a line.
func (w *Writer) Write(item Item) error {
	record, err := recordOf(item)
	if err != nil {
		return err
	}
	return json.MarshalEncode(w.encoder, record)
}

// Flush writes out what is buffered.
func (w *Writer) Flush() error { return w.buffer.Flush() }

func recordOf(item Item) (any, error) {
	switch v := item.Value.(type) {
	case *domain.Company:
		return newCompanyRecord(v), nil
	case *domain.Operator:
		return newOperatorRecord(v), nil
	case *domain.Tariff:
		return newTariffRecord(item.Company, v), nil
	case *domain.Group:
		return newGroupRecord(item.Company, v), nil
	case *domain.UserImport:
		return newUserRecord(item.Company, v), nil
	case *domain.Subscriber:
		return newSubscriberRecord(item.Company, v), nil
	case domain.Membership:
		return newMembershipRecord(item.Company, v), nil
	case domain.TagImport:
		return newTagRecord(item.Company, v), nil
	case domain.AlertSpec:
		return newAlertRecord(item.Company, v)
	case string:
		return newRecipientRecord(item.Company, v), nil
	case domain.Suppression:
		return newSuppressionRecord(item.Company, v), nil
	case domain.Firing:
		return newFiringRecord(item.Company, v), nil
	case *source.Profile:
		return newProfileRecord(item.Company, v), nil
	case *domain.Question:
		return newQuestionRecord(item.Company, v), nil
	case *dashboard.Dashboard:
		return newDashboardRecord(item.Company, v), nil
	case *report.Report:
		return newReportRecord(item.Company, v), nil
	case *note.Note:
		return newNoteRecord(item.Company, v), nil
	case *domain.SessionImport:
		return newSessionRecord(item.Company, v), nil
	case domain.UsageRecord:
		return newUsageRecord(item.Company, v), nil
	}
	return nil, fmt.Errorf("no line of a bundle holds a %T", item.Value)
}
