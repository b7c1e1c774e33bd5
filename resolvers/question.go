package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/report"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Question(ctx context.Context, by input.QuestionKey) (*domain.Question, error) {
	return lookUp[domain.Question](ctx, q, "Question", by.ID, by.QuestionID)
}

func (c companyResolver) Questions(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.QuestionConnection, error) {
	return companyPage(ctx, of, questionsOfCompany, domain.QuestionFields, first, after, last, before, filter, orderBy)
}

func (m mutationResolver) CreateQuestion(ctx context.Context, in input.CreateQuestionInput) (*model.CreateQuestionPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	question := domain.Question{Name: in.Name, Description: noneIfEmpty(in.Description.Value()), Folder: noneIfEmpty(in.Folder.Value()), IsShared: in.IsShared, Definition: definitionOf(in.Definition)}
	if err := question.Check(); err != nil {
		return nil, err
	}
	if err := m.mustShowSubject(ctx, scope, &question.Definition); err != nil {
		return nil, domain.Within("definition", err)
	}
	created, err := m.Ports.Questions.Create(ctx, scope, question)
	return &model.CreateQuestionPayload{Question: created}, err
}

func (m mutationResolver) EditQuestion(ctx context.Context, in input.EditQuestionInput) (*model.EditQuestionPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := domain.QuestionEdit{Name: in.Name.Value(), Description: in.Description.Value(), Folder: in.Folder.Value(), IsShared: in.IsShared.Value()}
	if wanted := in.Definition.Value(); wanted != nil {
		edit.Definition = new(definitionOf(wanted))
		if err := edit.Definition.Check(); err != nil {
			return nil, domain.Within("definition", err)
		}
		if err := m.mustShowSubject(ctx, scope, edit.Definition); err != nil {
			return nil, domain.Within("definition", err)
		}
	}
	edited, err := m.Ports.Questions.Edit(ctx, scope, in.QuestionID, edit)
	return &model.EditQuestionPayload{Question: edited}, err
}

func (m mutationResolver) DeleteQuestion(ctx context.Context, in input.DeleteQuestionInput) (*model.DeleteQuestionPayload, error) {
	removed, err := within(ctx, m.Ports.Questions.Remove, in.QuestionID)
	return &model.DeleteQuestionPayload{Question: removed}, err
}

// noneIfEmpty is the text, or nil for one that is not there or empty.
func noneIfEmpty(text *string) *string {
	if text == nil {
		return nil
	}
	return domain.TextOrNone(*text)
}

// definitionOf reads what a question is to ask.
func definitionOf(in *input.QuestionDefinitionInput) domain.QuestionDefinition {
	d := domain.QuestionDefinition{
		Version: domain.QuestionVersion, Measure: in.Measure, Interval: in.Interval, Split: in.Split.Value(), Chart: in.Chart, Span: in.Span,
		FirstDay: in.FirstDay.Value(), LastDay: in.LastDay.Value(), Compare: in.Compare.Value(), TagName: in.TagName.Value(), PhysicalID: in.PhysicalID.Value(),
	}
	if group := in.GroupID.Value(); group != nil {
		d.GroupID = new(int64(*group))
	}
	return d
}

// mustShowSubject returns NotFound for a group or a subscriber that the scope does not show.
func (g *Graph) mustShowSubject(ctx context.Context, scope domain.Scope, of *domain.QuestionDefinition) error {
	if of.GroupID != nil {
		if _, err := g.Ports.Groups.Find(ctx, scope, *of.GroupID); err != nil {
			return err
		}
	}
	if of.PhysicalID != nil {
		if _, err := g.Ports.Subscribers.Find(ctx, scope, *of.PhysicalID, domain.Projection{}); err != nil {
			return err
		}
	}
	return nil
}

func (q questionResolver) ID(_ context.Context, of *domain.Question) (string, error) {
	return globalID("Question", of.QuestionID), nil
}

func (q questionResolver) IsEditable(ctx context.Context, of *domain.Question) (bool, error) {
	scope, err := scopeOf(ctx)
	return of.IsEditable(scope), err
}

var _ = nodesByText("Question", func(g *Graph) finding[string, *domain.Question] { return g.Ports.Questions.FindMany })

func (q queryResolver) Report(ctx context.Context, by input.ReportKey) (*report.Report, error) {
	return lookUp[report.Report](ctx, q, "Report", by.ID, by.ReportID)
}

func (q queryResolver) PreviewReport(ctx context.Context, questionID, dashboardID *string, frequency report.Frequency, hour int32) (*report.Preview, error) {
	schedule := report.Schedule{Frequency: frequency, Hour: int(hour)}
	if err := schedule.Check(); err != nil {
		return nil, err
	}
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	topic := report.Topic{QuestionID: questionID, DashboardID: dashboardID}
	content, err := report.Finder{Questions: q.Ports.Questions, Dashboards: q.Ports.Dashboards}.Find(ctx, caller.Scope, topic)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, topic.Missing()
	}
	end, err := q.previews.begin(ctx, caller.Scope.Company, previewWait)
	if err != nil {
		return nil, err
	}
	defer end()
	return q.ReportPreviews.Preview(ctx, caller, content, schedule)
}

func (c companyResolver) Reports(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.ReportConnection, error) {
	return companyPage(ctx, of, reportsOfCompany, report.Fields, first, after, last, before, filter, orderBy)
}

func (m mutationResolver) CreateReport(ctx context.Context, in input.CreateReportInput) (*model.CreateReportPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	created, err := m.Ports.Reports.Create(ctx, scope, report.Report{
		Topic: report.Topic{QuestionID: in.QuestionID.Value(), DashboardID: in.DashboardID.Value()}, Schedule: report.Schedule{Frequency: in.Frequency, Hour: int(in.Hour)}, Recipients: in.Recipients,
	})
	return &model.CreateReportPayload{Report: created}, err
}

func (m mutationResolver) EditReport(ctx context.Context, in input.EditReportInput) (*model.EditReportPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := report.Edit{Frequency: in.Frequency.Value(), IsPaused: in.IsPaused.Value()}
	if hour := in.Hour.Value(); hour != nil {
		edit.Hour = new(int(*hour))
	}
	if recipients := in.Recipients.Value(); recipients != nil {
		edit.Recipients = &recipients
	}
	edited, err := m.Ports.Reports.Edit(ctx, scope, in.ReportID, edit)
	return &model.EditReportPayload{Report: edited}, err
}

func (m mutationResolver) SendReport(ctx context.Context, in input.SendReportInput) (*model.SendReportPayload, error) {
	sent, err := within(ctx, m.Ports.Reports.Send, in.ReportID)
	return &model.SendReportPayload{Report: sent}, err
}

func (m mutationResolver) DeleteReport(ctx context.Context, in input.DeleteReportInput) (*model.DeleteReportPayload, error) {
	removed, err := within(ctx, m.Ports.Reports.Remove, in.ReportID)
	return &model.DeleteReportPayload{Report: removed}, err
}

func (r reportResolver) ID(_ context.Context, of *report.Report) (string, error) {
	return globalID("Report", of.ReportID), nil
}

func (r reportResolver) Question(ctx context.Context, of *report.Report) (*domain.Question, error) {
	return questionOfReport.of(ctx, of)
}

func (r reportResolver) Dashboard(ctx context.Context, of *report.Report) (*dashboard.Dashboard, error) {
	return dashboardOfReport.of(ctx, of)
}

func (r reportResolver) IsEditable(ctx context.Context, of *report.Report) (bool, error) {
	scope, err := scopeOf(ctx)
	return of.IsEditable(scope), err
}

var _ = nodesByText("Report", func(g *Graph) finding[string, *report.Report] { return g.Ports.Reports.FindMany })
