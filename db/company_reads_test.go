package db_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"simgraph/db/access"
	"simgraph/db/alert"
	"simgraph/db/audit"
	bundles "simgraph/db/bundle"
	"simgraph/db/catalogue"
	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/db/mail"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/bundle"
	"simgraph/internal/fatal"
)

// pairs makes a map with keys of any type one that JSON can hold, and keeps the
// order of what a list holds.
func pairs[K comparable, V any](m map[K]V, err error) (any, error) {
	texts := map[string]V{}
	for key, value := range m {
		texts[fmt.Sprintf("%+v", key)] = value
	}
	return texts, err
}

func items[T any](slice domain.Slice[T], err error) (any, error) {
	return []any{slice.Items, slice.HasNext, slice.HasPrevious}, err
}

func slicesOf[K comparable, T any](m map[K]domain.Slice[T], err error) (any, error) {
	texts := map[string]any{}
	for key, slice := range m {
		texts[fmt.Sprint(key)] = []any{slice.Items, slice.HasNext}
	}
	return texts, err
}

func found[T any](value T, err error) (any, error) { return value, err }

// reads are the reads of the stores, each with a name.
func (w *twins) reads() map[string]read {
	all := map[string]read{}
	for _, more := range []map[string]read{w.aboutSubscribers(), w.aboutGroupsAndTags(), w.aboutAlerts(), w.aboutUsage(), w.aboutAccess()} {
		maps.Copy(all, more)
	}
	return all
}

// keys are those of acme's subscribers; its alerts are found by their rules.
func (w *twins) keys() (keys []int64) {
	fatal.If(w, w.pool.Select(&keys, `SELECT key FROM subscribers WHERE company_id = $1 ORDER BY physical_id`, w.company.CompanyID))
	return keys
}

func (w *twins) ids(sql string) (ids []int64) {
	fatal.If(w, w.pool.Select(&ids, sql, w.company.CompanyID))
	return ids
}

func (w *twins) listing(filter, order string, fields query.Fields) domain.Listing {
	w.Helper()
	l := domain.Listing{Page: domain.Page{Limit: 5}, Projection: domain.Projection{PeriodStart: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}}
	if filter != "" {
		l.Filter = fleettest.Must[query.Expr](w)(query.ParseFilter(filter, fields))
	}
	if order != "" {
		l.Order = fleettest.Must[[]query.Order](w)(query.ParseOrder(order, fields))
	}
	return l
}

func (w *twins) aboutSubscribers() map[string]read {
	store, keys := subscriber.New(w.pool), w.keys()
	tags, groups := []domain.TagName{"fleet"}, []int64{12, 13}
	all := map[string]read{
		"a subscriber": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(store.Find(ctx, s, "p0", fleettest.EveryField))
		},
		"subscribers": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(store.FindMany(ctx, s, []string{"p0", "p2"}, fleettest.EveryField))
		},
		"those of keys": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(store.OfKeys(ctx, s, keys, fleettest.EveryField))
		},
		"profiles": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(store.ProfilesOf(ctx, s, keys[:1], fleettest.EveryField))
		},
		"the fleet": func(ctx context.Context, s domain.Scope) (any, error) { return found(store.Fleet(ctx, s)) },
	}
	for name, l := range map[string]domain.Listing{
		"by usage":    w.listing("dataUsage gt 0", "dataUsage DESC", domain.SubscriberFields),
		"by parent":   w.listing(`related.parent.physicalId eq "p0" or tags eq "fleet"`, "related.parent.physicalId, tariffName", domain.SubscriberFields),
		"by operator": w.listing(`related.parent.isEnabledOnParent eq true or operatorName like "voda"`, "operatorName DESC", domain.SubscriberFields),
		"by group":    w.listing(`groupId in (12, 13) and not (lineRental eq 7)`, "groupId DESC", domain.SubscriberFields),
		"all":         w.listing("", "", domain.SubscriberFields),
	} {
		all["the list "+name] = func(ctx context.Context, s domain.Scope) (any, error) { return items(store.List(ctx, s, l)) }
		all["the list backward "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			back := l
			back.Page.Backward = true
			return items(store.List(ctx, s, back))
		}
		all["the rest "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			first := l
			first.Page.Limit = 1
			slice, err := store.List(ctx, s, first)
			if err != nil || len(slice.Items) == 0 {
				return nil, err
			}
			next := l
			next.Page.Cursor = slice.Cursor(0)
			return items(store.List(ctx, s, next))
		}
		all["the count "+name] = func(ctx context.Context, s domain.Scope) (any, error) { return found(store.Count(ctx, s, l)) }
		all["groups "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return slicesOf(store.OfGroups(ctx, s, groups, l))
		}
		all["tags "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return slicesOf(store.OfTags(ctx, s, tags, l))
		}
		all["count of groups "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(store.CountOfGroups(ctx, s, groups, l))
		}
		all["count of tags "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(store.CountOfTags(ctx, s, tags, l))
		}
	}
	return all
}

func (w *twins) aboutGroupsAndTags() map[string]read {
	groups, tags, catalogue, keys := group.New(w.pool), tag.New(w.pool), catalogue.New(w.pool), w.keys()
	page := domain.Page{Limit: 5}
	part := domain.Listing{Page: page}
	return map[string]read{
		"a group": func(ctx context.Context, s domain.Scope) (any, error) { return found(groups.Find(ctx, s, 12)) },
		"groups by id": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(groups.FindMany(ctx, s, []int64{12, 13}))
		},
		"groups":          func(ctx context.Context, s domain.Scope) (any, error) { return items(groups.List(ctx, s, part)) },
		"groups, counted": func(ctx context.Context, s domain.Scope) (any, error) { return found(groups.Count(ctx, s, part)) },
		"counts of groups": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(groups.CountsOf(ctx, s, []int64{12, 13}))
		},
		"tags":          func(ctx context.Context, s domain.Scope) (any, error) { return items(tags.List(ctx, s, part)) },
		"tags, counted": func(ctx context.Context, s domain.Scope) (any, error) { return found(tags.Count(ctx, s, part)) },
		"counts of tags": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(tags.CountsOf(ctx, s, []domain.TagName{"fleet"}))
		},
		"tags of many": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(tags.OfMany(ctx, s, keys, page))
		},
		"numbers of tags": func(ctx context.Context, s domain.Scope) (any, error) { return pairs(tags.NumberOf(ctx, s, keys)) },
		"operators": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(catalogue.Operators(ctx, s, part))
		},
		"tariffs": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(catalogue.Tariffs(ctx, s, part))
		},
		"tariffs by name": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(catalogue.TariffsOf(ctx, s, []string{"IoT 50"}))
		},
		"subscribers by tariff": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(catalogue.SubscribersByTariff(ctx, s, 5))
		},
	}
}

func (w *twins) aboutAlerts() map[string]read {
	few := domain.Listing{Page: domain.Page{Limit: 5}}
	alerts, log, recipients, keys := volume.NewAlerts(w.pool, twinClock), volume.NewLog(w.pool), mail.NewRecipients(w.pool, twinClock), w.keys()
	ids := w.ids(`SELECT alert_id FROM alerts WHERE company_id = $1 ORDER BY rule_type`)
	entries := w.ids(`SELECT entry_id FROM alert_log WHERE company_id = $1 ORDER BY entry_id`)
	whom := w.ids(`SELECT recipient_id FROM alert_recipients WHERE company_id = $1`)
	var notified []domain.Notified
	fatal.If(w, w.pool.Select(&notified, `SELECT DISTINCT ON (notification_id) notification_id, entry_id, false AS is_silenced FROM alert_log WHERE company_id = $1 ORDER BY 1`, w.company.CompanyID))
	span := fleettest.Must[domain.Range](w)(domain.NewRange(twinClock().AddDate(0, 0, -12), twinClock()))
	page, spec := domain.Page{Limit: 5}, func(of domain.RuleType, target string) domain.AlertSpec {
		return domain.AlertSpec{RuleType: of, Target: target, LowerThreshold: 10, UpperThreshold: 50}
	}
	alertList, logList := w.listing("upperThreshold gt 0", "upperThreshold DESC", domain.VolumeAlertFields), w.listing("usage gt 0", "usage DESC", domain.VolumeLogFields)
	every, everyLog := alert.NewAlerts(w.pool), alert.NewLog(w.pool)
	everyList, everyLogList := w.listing("upperThreshold gt 0", "upperThreshold DESC", domain.AlertFields), w.listing("usage gt 0", "usage DESC", domain.AlertLogFields)
	return map[string]read{
		"an alert":     func(ctx context.Context, s domain.Scope) (any, error) { return found(alerts.Find(ctx, s, ids[0])) },
		"alerts by id": func(ctx context.Context, s domain.Scope) (any, error) { return pairs(alerts.FindMany(ctx, s, ids)) },
		"alerts": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(alerts.List(ctx, s, alertList))
		},
		"alerts, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(alerts.Count(ctx, s, alertList))
		},
		"subjects": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(alerts.SubjectsOf(ctx, s, ids, page))
		},
		"exceeded": func(ctx context.Context, s domain.Scope) (any, error) { return pairs(alerts.Fired(ctx, s, ids)) },
		"watching": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(alerts.WatchingSubscribers(ctx, s, keys))
		},
		"alerts of all kinds": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(every.List(ctx, s, everyList))
		},
		"alerts of all kinds, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(every.Count(ctx, s, everyList))
		},
		"alerts of all kinds by number": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(every.FindMany(ctx, s, ids))
		},
		"alerts of groups": func(ctx context.Context, s domain.Scope) (any, error) {
			return slicesOf(every.OfGroups(ctx, s, []int64{12, 13}, everyList))
		},
		"alerts of groups, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(every.CountOfGroups(ctx, s, []int64{12, 13}, everyList))
		},
		"the log of all kinds": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(everyLog.List(ctx, s, everyLogList))
		},
		"the log of all kinds, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(everyLog.Count(ctx, s, everyLogList))
		},
		"explained": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(alerts.Explain(ctx, s, ids[len(ids)-1], domain.AlertSubject{PhysicalID: new("p0")}))
		},
		"preview of one": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(alerts.Preview(ctx, s, spec(domain.RuleSIM, "s0"), span))
		},
		"preview of a group": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(alerts.Preview(ctx, s, spec(domain.RuleGroup, "12"), span))
		},
		"preview of members": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(alerts.Preview(ctx, s, spec(domain.RuleGroupMember, "12"), span))
		},
		"preview of all": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(alerts.Preview(ctx, s, spec(domain.RuleCompany, ""), span))
		},
		"the log":          func(ctx context.Context, s domain.Scope) (any, error) { return items(log.List(ctx, s, logList)) },
		"the log by id":    func(ctx context.Context, s domain.Scope) (any, error) { return pairs(log.FindMany(ctx, s, entries)) },
		"the log, counted": func(ctx context.Context, s domain.Scope) (any, error) { return found(log.Count(ctx, s, logList)) },
		"deliveries": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(log.Deliveries(ctx, s, notified))
		},
		"a recipient": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(recipients.Find(ctx, s, whom[0]))
		},
		"recipients by id": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(recipients.FindMany(ctx, s, whom))
		},
		"recipients":          func(ctx context.Context, s domain.Scope) (any, error) { return items(recipients.List(ctx, s, few)) },
		"recipients, counted": func(ctx context.Context, s domain.Scope) (any, error) { return found(recipients.Count(ctx, s, few)) },
	}
}

func (w *twins) aboutUsage() map[string]read {
	store := w.usage()
	analytics, keys := usage.NewAnalytics(store), w.keys()
	span := fleettest.Must[domain.Range](w)(domain.NewRange(twinClock().AddDate(0, 0, -12), twinClock()))
	state := feed.NewState(w.pool)
	sessions, listing := feed.NewSessions(w.pool), w.listing("total ge 0", "physicalId", domain.SessionFields)
	all := map[string]read{
		"sessions": func(ctx context.Context, s domain.Scope) (any, error) { return items(sessions.List(ctx, s, listing)) },
		"sessions, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(sessions.Count(ctx, s, listing))
		},
		"sessions of subscribers": func(ctx context.Context, s domain.Scope) (any, error) {
			return slicesOf(sessions.OfSubscribers(ctx, s, keys, listing))
		},
		"sessions of subscribers, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(sessions.CountOfSubscribers(ctx, s, keys, listing))
		},
		"feed elements": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(state.Elements(ctx, s, domain.Listing{Page: domain.Page{Limit: 5}}))
		},
		"feed rejects": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(state.Rejects(ctx, s, domain.Listing{Page: domain.Page{Limit: 5}}))
		},
		"waiting usage": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(state.Waiting(ctx, s, domain.Listing{Page: domain.Page{Limit: 5}}))
		},
		"open sessions": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(state.OpenSessions(ctx, s, []domain.FeedKey{{Source: "pgw"}}))
		},
		"last seen": func(ctx context.Context, s domain.Scope) (any, error) { return pairs(sessions.LastSeen(ctx, s, keys)) },
		"sources":   func(ctx context.Context, s domain.Scope) (any, error) { return found(store.Sources(ctx, s)) },
		"listed sources": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(store.ListSources(ctx, s, domain.Listing{Page: domain.Page{Limit: 5}}))
		},
		"current": func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(store.CurrentOf(ctx, s, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), keys))
		},
	}
	for name, of := range map[string][]domain.Subject{
		"the company":    {{Kind: domain.CompanySubject}},
		"groups":         {{Kind: domain.GroupSubject, ID: 12}, {Kind: domain.GroupSubject, ID: 13}},
		"a tag":          {{Kind: domain.TagSubject, Tag: "fleet"}},
		"some of a list": {{Kind: domain.SubscriberSubject, ID: keys[0]}, {Kind: domain.SubscriberSubject, ID: keys[1]}},
	} {
		all["totals of "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(analytics.Totals(ctx, s, of, span, domain.AllMeasures))
		}
		all["the top of "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(analytics.Top(ctx, s, of, span, 3))
		}
		all["the changes of "+name] = func(ctx context.Context, s domain.Scope) (any, error) {
			return pairs(analytics.Changes(ctx, s, of, span, span.Before(), domain.MostRisen, 3))
		}
		for _, unit := range []domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly} {
			all[fmt.Sprint("series of ", name, unit)] = func(ctx context.Context, s domain.Scope) (any, error) {
				return pairs(analytics.Series(ctx, s, of, span, domain.Interval{Unit: unit, Zone: time.UTC}, domain.AllMeasures))
			}
		}
		for _, by := range []domain.Dimension{domain.ByProtocol, domain.ByIPAddress, domain.ByOperator, domain.ByTariff, domain.ByGroup, domain.ByTag, domain.BySource} {
			all[fmt.Sprint(name, " by ", by)] = func(ctx context.Context, s domain.Scope) (any, error) {
				return pairs(analytics.Breakdown(ctx, s, of, span, by, 10))
			}
		}
		all["protocols of "+name] = gather(func(ctx context.Context, s domain.Scope, each func(domain.Subject, domain.ProtocolHour) error) error {
			return analytics.ProtocolHours(ctx, s, of, span, each)
		})
		all["subscribers of "+name] = gather(func(ctx context.Context, s domain.Scope, each func(domain.Subject, domain.SubscriberUsage) error) error {
			return analytics.Subscribers(ctx, s, of, span, each)
		})
		all["addresses of "+name] = gather(func(ctx context.Context, s domain.Scope, each func(domain.Subject, domain.AddressUsage) error) error {
			return analytics.Addresses(ctx, s, of, span, each)
		})
	}
	return all
}

// gather lists what a store hands over one by one.
func gather[T any](read func(context.Context, domain.Scope, func(domain.Subject, T) error) error) read {
	return func(ctx context.Context, s domain.Scope) (any, error) {
		var lines []string
		err := read(ctx, s, func(of domain.Subject, value T) error {
			lines = append(lines, fmt.Sprintf("%+v %+v", of, value))
			return nil
		})
		return lines, err
	}
}

func (w *twins) aboutAccess() map[string]read {
	access, log, snapshots := access.New(w.pool), audit.NewLog(w.pool), bundles.NewSnapshots(w.pool)
	part := domain.Listing{Page: domain.Page{Limit: 5}}
	return map[string]read{
		"users": func(ctx context.Context, s domain.Scope) (any, error) { return items(access.Users(ctx, s, part)) },
		"keys":  func(ctx context.Context, s domain.Scope) (any, error) { return items(access.Keys(ctx, s, part)) },
		"the audit": func(ctx context.Context, s domain.Scope) (any, error) {
			return items(log.List(ctx, s, w.listing("", "sequence DESC", domain.AuditFields)))
		},
		"the audit, counted": func(ctx context.Context, s domain.Scope) (any, error) {
			return found(log.Count(ctx, s, domain.Listing{}))
		},
		"the export": func(ctx context.Context, s domain.Scope) (any, error) {
			snapshot, err := snapshots.Open(ctx, domain.Whole(s.Company))
			if err != nil {
				return nil, err
			}
			defer func() { _ = snapshot.Close() }()
			var b strings.Builder
			err = bundle.Export(ctx, snapshot, bundle.NewWriter(&b), nil)
			lines := strings.Split(b.String(), "\n")
			slices.Sort(lines)
			return lines, err
		},
	}
}
