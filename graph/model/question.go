package model

import (
	"simgraph/domain"
	"simgraph/domain/report"
)

// The connection of questions.
type (
	QuestionConnection = Connection[*domain.Question]
	QuestionEdge       = Edge[*domain.Question]
)

// The answers of the mutations on questions.
type (
	CreateQuestionPayload struct{ Question *domain.Question }
	EditQuestionPayload   struct{ Question *domain.Question }
	DeleteQuestionPayload struct{ Question *domain.Question }
)

// The connection of reports.
type (
	ReportConnection = Connection[*report.Report]
	ReportEdge       = Edge[*report.Report]
)

// The answers of the mutations on reports.
type (
	CreateReportPayload struct{ Report *report.Report }
	EditReportPayload   struct{ Report *report.Report }
	SendReportPayload   struct{ Report *report.Report }
	DeleteReportPayload struct{ Report *report.Report }
)
