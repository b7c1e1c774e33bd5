package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/note"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Note(ctx context.Context, by input.NoteKey) (*note.Note, error) {
	return lookUp[note.Note](ctx, q, "Note", by.ID, by.NoteID)
}

func (q queryResolver) Notes(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.NoteConnection, error) {
	listing, err := listingOf(note.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Notes.List, q.Ports.Notes.Count)
}

func (m mutationResolver) CreateNote(ctx context.Context, in input.CreateNoteInput) (*model.CreateNotePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	pinned := note.Note{Text: in.Text, StartsAt: in.StartsAt, EndsAt: in.EndsAt.Value(), PhysicalID: in.PhysicalID.Value()}
	if group := in.GroupID.Value(); group != nil {
		pinned.GroupID = new(int64(*group))
	}
	if pinned, err = pinned.Checked(); err != nil {
		return nil, err
	}
	if err := m.mustShowSubject(ctx, scope, &domain.QuestionDefinition{GroupID: pinned.GroupID, PhysicalID: pinned.PhysicalID}); err != nil {
		return nil, err
	}
	created, err := m.Ports.Notes.Create(ctx, scope, pinned)
	return &model.CreateNotePayload{Note: created}, err
}

func (m mutationResolver) EditNote(ctx context.Context, in input.EditNoteInput) (*model.EditNotePayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := note.Edit{Text: in.Text.Value(), StartsAt: in.StartsAt.Value(), SetEnd: in.EndsAt.IsSet(), EndsAt: in.EndsAt.Value()}
	edited, err := m.Ports.Notes.Edit(ctx, scope, in.NoteID, edit)
	return &model.EditNotePayload{Note: edited}, err
}

func (m mutationResolver) DeleteNote(ctx context.Context, in input.DeleteNoteInput) (*model.DeleteNotePayload, error) {
	removed, err := within(ctx, m.Ports.Notes.Remove, in.NoteID)
	return &model.DeleteNotePayload{Note: removed}, err
}

func (n noteResolver) ID(_ context.Context, of *note.Note) (string, error) {
	return globalID("Note", of.NoteID), nil
}

func (n noteResolver) IsEditable(ctx context.Context, of *note.Note) (bool, error) {
	scope, err := scopeOf(ctx)
	return of.IsEditable(scope), err
}

var _ = nodesByText("Note", func(g *Graph) finding[string, *note.Note] { return g.Ports.Notes.FindMany })
