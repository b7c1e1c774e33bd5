package upstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

// notInContract is what the documented API does not return.
var notInContract = []string{
	"users, their permissions and access keys are not returned: make them here before clients are switched over",
	"protocols, IP addresses and sessions are not returned by the hour and subscriber: usage has the protocol " + domain.DefaultProtocol + ", and neither address nor session",
}

// Verify reads the other server again, and compares every group, tag, alert and subscriber by
// their fields, and usage by subscriber and day, and by direction and hour.
func (m *Mover) Verify(ctx context.Context) (*upstream.Report, error) {
	m.cards = map[string][]string{}
	report := &upstream.Report{Until: m.Now().UTC().Add(-upstream.Settled).Truncate(time.Hour), Notes: slices.Clone(notInContract)}
	for _, step := range []func(context.Context, *upstream.Report) error{
		m.verifyGroups, m.verifySubscribers, m.verifyTags, m.verifyAlerts, m.verifyRecipients, m.verifyDays, m.verifyHours,
	} {
		if err := step(ctx, report); err != nil {
			return nil, err
		}
	}
	if m.incomplete > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("%d entries of the alert log do not say which subscriber or threshold they are about: alerts fire here by the usage that was copied", m.incomplete))
	}
	return report, nil
}

func (m *Mover) verifyGroups(ctx context.Context, report *upstream.Report) error {
	theirs, err := listOf[group](ctx, m.From, []string{"subscriber-groups"}, nil)
	if err != nil {
		return err
	}
	ids := make([]int64, len(theirs))
	for i, g := range theirs {
		ids[i] = int64(g.ID)
	}
	ours, err := m.Groups.FindMany(ctx, m.scope(), ids)
	if err != nil {
		return err
	}
	here, err := m.Groups.Count(ctx, m.scope(), domain.Listing{})
	if err != nil {
		return err
	}
	var differences []upstream.Difference
	for _, g := range theirs {
		of, key := ours[int64(g.ID)], strconv.FormatInt(int64(g.ID), 10)
		switch {
		case of == nil:
			differences = append(differences, upstream.Difference{What: "group", Key: key, There: clip(g.Name)})
		case of.Name != g.Name:
			differences = append(differences, upstream.Difference{What: "group", Key: key, Field: "name", There: clip(g.Name), Here: of.Name})
		case of.HideTariffDetails != g.HideTariffDetails:
			differences = append(differences, upstream.Difference{What: "group", Key: key, Field: "hideTariffDetails", There: strconv.FormatBool(g.HideTariffDetails), Here: strconv.FormatBool(of.HideTariffDetails)})
		}
	}
	report.Add(upstream.Line{What: "groups", There: int64(len(theirs)), Here: int64(here)}, differences...)
	return nil
}

func (m *Mover) verifySubscribers(ctx context.Context, report *upstream.Report) error {
	var differences []upstream.Difference
	differ := 0
	seen := map[string]bool{}
	err := each(ctx, m.From, []string{"subscribers"}, orderOfSubscribers, func(page []subscriber) error {
		var batch []*domain.Subscriber
		for i := range page {
			if id := page[i].PhysicalID; !seen[id] {
				seen[id] = true
				of, err := page[i].domain()
				if err != nil {
					differ++
					differences = append(differences, upstream.Difference{What: upstream.WhatSubscriber, Key: clip(id), There: clip(err.Error())})
					continue
				}
				batch = append(batch, of)
			}
		}
		ours, err := m.find(ctx, batch)
		for _, of := range batch {
			m.note(of)
			found := upstream.CompareSubscribers(of, ours[of.PhysicalID])
			if len(found) > 0 {
				differ++
			}
			differences = upstream.Append(differences, found...)
		}
		m.progress("subscribers compared", len(seen))
		return err
	})
	if err != nil {
		return err
	}
	here, err := m.Subscribers.Count(ctx, m.scope(), domain.Listing{})
	report.Add(upstream.Line{What: "subscribers", There: int64(len(seen)), Here: int64(here), Differ: int64(differ)}, differences...)
	return err
}

// verifyTags compares which subscribers carry each tag: those there must carry it here, and
// no more may.
func (m *Mover) verifyTags(ctx context.Context, report *upstream.Report) error {
	var differences []upstream.Difference
	there := int64(0)
	err := m.eachTag(ctx, func(tag domain.TagName, subscribers int64) error {
		there++
		ours, err := m.Tags.CountsOf(ctx, m.scope(), []domain.TagName{tag})
		if err != nil {
			return err
		}
		if here := int64(ours[tag]); here != subscribers {
			differences = append(differences, upstream.Difference{
				What: "tag", Key: string(tag), Field: "numberOfSubscribers", There: strconv.FormatInt(subscribers, 10), Here: strconv.FormatInt(here, 10),
			})
		}
		missing, err := m.missing(ctx, tag)
		differences = append(differences, missing...)
		return err
	})
	if err != nil {
		return err
	}
	here, err := m.Tags.Count(ctx, m.scope(), domain.Listing{})
	report.Add(upstream.Line{What: "tags", There: there, Here: int64(here)}, differences...)
	return err
}

// missing are the subscribers that carry a tag there and not here.
func (m *Mover) missing(ctx context.Context, tag domain.TagName) (differences []upstream.Difference, err error) {
	err = each(ctx, m.From, []string{string(tag), "subscribers"}, "", func(page []reference) error {
		batch := make([]*domain.Subscriber, len(page))
		for i, r := range page {
			batch[i] = &domain.Subscriber{PhysicalID: r.PhysicalID}
		}
		carriers, err := m.carriers(ctx, tag, batch)
		for _, s := range batch {
			if err == nil && !carriers[s.PhysicalID] {
				differences = append(differences, upstream.Difference{What: "tag", Key: string(tag), Field: "on " + clip(s.PhysicalID), There: "it"})
			}
		}
		return err
	})
	return differences, err
}

// carriers are those of the subscribers that carry a tag here.
func (m *Mover) carriers(ctx context.Context, tag domain.TagName, batch []*domain.Subscriber) (map[string]bool, error) {
	ours, err := m.find(ctx, batch)
	if err != nil {
		return nil, err
	}
	carriers, names := map[string]bool{}, map[int64]string{}
	for id, s := range ours {
		names[s.Key] = id
	}
	for page := (domain.Page{Limit: domain.MaxLimit}); len(names) > 0; page.Offset += page.Limit {
		tags, err := m.Tags.OfMany(ctx, m.scope(), slices.Collect(maps.Keys(names)), page)
		if err != nil {
			return nil, err
		}
		for key, id := range names {
			if slices.Contains(tags[key], tag) {
				carriers[id] = true
			}
			if carriers[id] || len(tags[key]) < page.Limit {
				delete(names, key)
			}
		}
	}
	return carriers, nil
}

// verifyAlerts compares alerts by what they watch and their thresholds.
func (m *Mover) verifyAlerts(ctx context.Context, report *upstream.Report) error {
	theirs, err := m.alerts(ctx)
	if err != nil {
		return err
	}
	balance := map[domain.AlertSpec]int{}
	for _, a := range theirs {
		balance[a.AlertSpec]++
	}
	here, page := 0, domain.Page{Limit: domain.MaxLimit}
	for {
		part, err := m.Alerts.List(ctx, m.scope(), domain.Listing{Page: page})
		if err != nil {
			return err
		}
		for _, a := range part.Items {
			here++
			balance[domain.AlertSpec{RuleType: a.RuleType, Target: a.Target, LowerThreshold: a.LowerThreshold, UpperThreshold: a.UpperThreshold}]--
		}
		if !part.HasNext {
			break
		}
		page.Cursor = part.Cursor(len(part.Items) - 1)
	}
	report.Add(upstream.Line{What: "alerts", There: int64(len(theirs)), Here: int64(here)}, differencesOf(balance)...)
	return nil
}

func differencesOf(balance map[domain.AlertSpec]int) (differences []upstream.Difference) {
	for spec, n := range balance {
		d := upstream.Difference{What: "alert", Key: nameOf(spec), Field: fmt.Sprintf("%d to %d bytes", spec.LowerThreshold, spec.UpperThreshold)}
		switch {
		case n > 0:
			d.There = strconv.Itoa(n)
		case n < 0:
			d.Here = strconv.Itoa(-n)
		default:
			continue
		}
		differences = append(differences, d)
	}
	slices.SortFunc(differences, func(a, b upstream.Difference) int {
		return slices.Compare([]string{a.Key, a.Field}, []string{b.Key, b.Field})
	})
	return differences
}

// verifyRecipients compares recipients where they are to be here.
func (m *Mover) verifyRecipients(ctx context.Context, report *upstream.Report) error {
	theirs, isListed, err := m.recipients(ctx)
	switch {
	case err != nil:
		return err
	case !isListed:
		report.Notes = append(report.Notes, "recipients of alert mail are not listed there: add them here")
		return nil
	case !m.WithRecipients && len(theirs) > 0:
		report.Notes = append(report.Notes, fmt.Sprintf("%d recipients of alert mail are copied with --recipients alone, since both sides send mail from then on", len(theirs)))
		return nil
	}
	ours, err := m.Recipients.List(ctx, m.scope(), domain.Listing{Page: domain.Page{Limit: domain.MaxLimit}})
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for _, r := range ours.Items {
		here[r.Email] = true
	}
	var differences []upstream.Difference
	for _, email := range theirs {
		if !here[email] {
			differences = append(differences, upstream.Difference{What: "recipient", Key: clip(email), There: "it"})
		}
	}
	report.Add(upstream.Line{What: "recipients", There: int64(len(theirs)), Here: int64(len(ours.Items))}, differences...)
	return nil
}

// verifyDays compares the usage of each subscriber on each day.
func (m *Mover) verifyDays(ctx context.Context, report *upstream.Report) error {
	line := upstream.Line{What: "days of subscribers with usage"}
	var differences []upstream.Difference
	first := m.firstDay(m.Now())
	for n := range m.Days {
		day := dayOf(first, n)
		if day.until.After(report.Until) {
			day.until = report.Until
		}
		if !day.from.Before(day.until) {
			break
		}
		all, _, err := m.compare(ctx, day)
		if err != nil {
			return err
		}
		found := compareDay(&line, day.from, all)
		line.Differ += int64(len(found))
		differences = upstream.Append(differences, found...)
		m.progress("days verified", n+1)
	}
	report.Add(line, differences...)
	return nil
}

func compareDay(line *upstream.Line, day time.Time, all []upstream.Usage) (differences []upstream.Difference) {
	for _, of := range all {
		if of.There > 0 {
			line.There++
		}
		if of.Here > 0 {
			line.Here++
		}
		if of.There != of.Here {
			differences = append(differences, upstream.Difference{
				What: "usage of " + clip(of.SubscriberID), Key: day.Format(time.DateOnly),
				There: strconv.FormatInt(of.There, 10) + " bytes", Here: strconv.FormatInt(of.Here, 10) + " bytes",
			})
		}
	}
	return differences
}

// verifyHours compares the usage of the company in each hour and direction.
func (m *Mover) verifyHours(ctx context.Context, report *upstream.Report) error {
	all := span{m.firstDay(m.Now()), report.Until}
	if !all.from.Before(all.until) {
		return nil
	}
	theirs, err := m.From.hours(ctx, "", all)
	if err != nil {
		return err
	}
	rows, err := m.Usage.ReportedByHour(ctx, m.scope(), m.Source, all.from, all.until)
	if err != nil {
		return err
	}
	ours := make(upstream.Hours, len(rows))
	for _, row := range rows {
		ours[row.Hour] = row.Volume
	}
	report.Add(upstream.Line{What: "hours with usage", There: int64(len(theirs)), Here: int64(len(ours))}, upstream.CompareHours("usage of the hour", theirs, ours)...)
	return nil
}
