package upstream

import (
	"context"
	"slices"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

func (m *Mover) copyTags(ctx context.Context) error {
	cursor := m.cursor
	if cursor.IsDone(upstream.Tags) || m.labelsAreOurs() && len(m.fresh) == 0 {
		return nil
	}
	err := from(ctx, m.From, []string{"tags"}, "", cursor.Tags, func(page []tagCount, at, _ upstream.Place) error {
		cursor.Tags = at
		stored := slices.IndexFunc(page, func(t tagCount) bool { return t.TagName == cursor.LastTag })
		for _, t := range page[stored+1:] {
			tag, err := domain.NewTagName(t.TagName)
			if err != nil {
				m.refuse("tag "+clip(t.TagName), err)
				continue
			}
			if err := m.copyTag(ctx, tag); err != nil {
				return err
			}
			cursor.LastTag, cursor.Tag, cursor.Carriers = t.TagName, "", upstream.Place{}
			if err := m.reach(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && m.takesTagsOff() {
		err = m.detachUnknown(ctx)
	}
	if err != nil {
		return err
	}
	return m.finish(ctx, upstream.Tags)
}

// copyTag reads which subscribers carry a tag. Where others are to lose it, all of them must
// be known, so that it begins anew after an interruption.
func (m *Mover) copyTag(ctx context.Context, tag domain.TagName) error {
	cursor, place := m.cursor, upstream.Place{}
	if cursor.Tag == string(tag) && !m.takesTagsOff() {
		place = cursor.Carriers
	}
	carriers := map[string]bool{}
	err := from(ctx, m.From, []string{string(tag), "subscribers"}, "", place, func(page []reference, _, next upstream.Place) error {
		var items []domain.TagImport
		for _, r := range page {
			if carriers[r.PhysicalID] = true; m.takesTags(r.PhysicalID) {
				items = append(items, domain.TagImport{PhysicalID: r.PhysicalID, TagName: tag})
			}
		}
		if len(items) > 0 {
			answers, err := m.Importer.Tags(ctx, m.scope(), items)
			if err := m.answered("tag "+string(tag)+" on", answers, func(i int) string { return items[i].PhysicalID }, err); err != nil {
				return err
			}
		}
		cursor.Tag, cursor.Carriers = string(tag), next
		m.count(upstream.Tags, len(items))
		return m.reach(ctx)
	})
	if err != nil || !m.takesTagsOff() {
		return err
	}
	here, err := m.Keeper.Carriers(ctx, m.Job, tag)
	if err != nil {
		return err
	}
	return m.detach(ctx, tag, slices.DeleteFunc(here, func(id string) bool { return carriers[id] }))
}

// eachTag calls do for each tag, with how many subscribers carry it.
func (m *Mover) eachTag(ctx context.Context, do func(tag domain.TagName, subscribers int64) error) error {
	return each(ctx, m.From, []string{"tags"}, "", func(page []tagCount) error {
		for _, t := range page {
			tag, err := domain.NewTagName(t.TagName)
			if err != nil {
				m.refuse("tag "+clip(t.TagName), err)
				continue
			}
			if err := do(tag, int64(t.NumberOfSubscribers)); err != nil {
				return err
			}
		}
		return nil
	})
}
