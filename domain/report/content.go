package report

import (
	"cmp"
	"context"
	"slices"

	"simgraph/domain"
	"simgraph/domain/dashboard"
)

// Topic names what a report sends: a question or a dashboard, the other is nil.
type Topic struct{ QuestionID, DashboardID *string }

// Check refuses what names none or both.
func (t Topic) Check() error {
	switch {
	case t.QuestionID == nil && t.DashboardID == nil:
		return domain.Invalid("questionId", "a report sends a question or a dashboard: name one")
	case t.QuestionID != nil && t.DashboardID != nil:
		return domain.Invalid("dashboardId", "a report sends a question or a dashboard: not both")
	}
	return nil
}

// Missing is the error where there is no such question or dashboard, or it is not seen.
func (t Topic) Missing() error {
	if t.DashboardID != nil {
		return domain.NotFound("dashboardId", "dashboard", *t.DashboardID)
	}
	return domain.NotFound("questionId", "question", domain.OrEmpty(t.QuestionID))
}

// Content is what a report sends, as a scope sees it.
type Content struct {
	Topic
	Name        string
	Description *string
	// Questions are the one, or those of the dashboard's tiles under what is common, row by
	// row. A tile's own question has no name.
	Questions []domain.Question
	// Hidden is how many tiles have a question that was deleted or is not seen.
	Hidden int
}

// Finder finds what reports send.
type Finder struct {
	Questions  domain.Questions
	Dashboards dashboard.Dashboards
}

// Find returns what the scope sees of the topic; nil where it sees none such.
func (f Finder) Find(ctx context.Context, scope domain.Scope, of Topic) (*Content, error) {
	if err := of.Check(); err != nil {
		return nil, err
	}
	if of.DashboardID != nil {
		return f.board(ctx, scope, of)
	}
	found, err := f.Questions.FindMany(ctx, scope, []string{*of.QuestionID})
	question := found[*of.QuestionID]
	if question == nil {
		return nil, err
	}
	return &Content{Topic: of, Name: question.Name, Description: question.Description, Questions: []domain.Question{*question}}, err
}

func (f Finder) board(ctx context.Context, scope domain.Scope, of Topic) (*Content, error) {
	boards, err := f.Dashboards.FindMany(ctx, scope, []string{*of.DashboardID})
	board := boards[*of.DashboardID]
	if board == nil {
		return nil, err
	}
	var ids []string
	for _, tile := range board.Tiles {
		if tile.QuestionID != nil {
			ids = append(ids, *tile.QuestionID)
		}
	}
	kept, err := f.Questions.FindMany(ctx, scope, ids)
	content := &Content{Topic: of, Name: board.Name, Description: board.Description}
	for _, tile := range slices.SortedStableFunc(slices.Values(board.Tiles), byPlace) {
		var question domain.Question
		switch {
		case tile.Definition != nil:
			question.Definition = *tile.Definition
		case tile.QuestionID != nil && kept[*tile.QuestionID] != nil:
			question = *kept[*tile.QuestionID]
		default:
			content.Hidden++
			continue
		}
		question.Definition = board.Common.Of(question.Definition)
		content.Questions = append(content.Questions, question)
	}
	return content, err
}

func byPlace(a, b dashboard.Tile) int {
	return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Column, b.Column))
}
