package model

import "simgraph/domain"

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
