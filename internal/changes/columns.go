package changes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/bulk"
	"simgraph/domain/query"
)

// Template is the header of a file with every column: what changes, and what only a new
// subscriber gets.
const Template = "physicalId,nickname,groupId,addTags,removeTags,isBarred,tariffName,terminateDate," +
	"subscriberId,operatorCode,contractLength,connectionDate,expiryDate,imsi,dataNumber,fixedIpAddress,kind,subscriberType,isActive,eid,smdpProvider,parent,isEnabledOnParent\n"

// identifier is the column that every file has.
const identifier = "physicalId"

const (
	// tagSeparator stands between the tags of a cell.
	tagSeparator = "|"
	// noGroup in a cell moves a subscriber out of its group.
	noGroup = "none"
)

// fields put a cell that is not blank into a row, by the name of the column.
var fields = map[string]func(r *bulk.Row, cell string) error{
	identifier: func(r *bulk.Row, cell string) error {
		if rounded.MatchString(cell) {
			return errRounded(identifier, cell)
		}
		r.PhysicalID = cell
		return domain.CheckPhysicalID(cell)
	},
	"nickname": func(r *bulk.Row, cell string) error {
		nickname, err := domain.NewNickname(cell)
		r.Nickname = &nickname
		return err
	},
	"groupId": func(r *bulk.Row, cell string) error {
		r.Move = &bulk.Move{}
		if ascii.EqualFold(cell, noGroup) {
			return nil
		}
		id, ok := query.ParseInteger(cell, 32)
		if !ok {
			return domain.Invalid("groupId", "groupId is the number of a group or %q, not %q", noGroup, clip(cell))
		}
		r.Move.GroupID = &id
		return nil
	},
	"addTags":    func(r *bulk.Row, cell string) error { return readTags(&r.AddTags, cell) },
	"removeTags": func(r *bulk.Row, cell string) error { return readTags(&r.RemoveTags, cell) },
	"isBarred":   readTruth("isBarred", func(r *bulk.Row) **bool { return &r.IsBarred }),
	"tariffName": func(r *bulk.Row, cell string) error {
		r.TariffName = &cell
		return nil
	},
	"terminateDate": readDate("terminateDate", func(r *bulk.Row) **time.Time { return &r.TerminateDate }),

	"subscriberId": readNumber("subscriberId", func(r *bulk.Row) **string { return &r.SubscriberID }),
	"operatorCode": readNumber("operatorCode", func(r *bulk.Row) **string { return &r.OperatorCode }),
	"contractLength": func(r *bulk.Row, cell string) error {
		months, ok := query.ParseInteger(cell, 32)
		if !ok {
			return domain.Invalid("contractLength", "contractLength is a whole number of months, not %q", clip(cell))
		}
		r.ContractLength = new(int(months))
		return nil
	},
	"connectionDate": readDate("connectionDate", func(r *bulk.Row) **time.Time { return &r.ConnectionDate }),
	"expiryDate":     readDate("expiryDate", func(r *bulk.Row) **time.Time { return &r.ExpiryDate }),
	"imsi":           readNumber("imsi", func(r *bulk.Row) **string { return &r.IMSI }),
	"dataNumber":     readNumber("dataNumber", func(r *bulk.Row) **string { return &r.DataNumber }),
	"fixedIpAddress": func(r *bulk.Row, cell string) error {
		address, err := domain.NewFixedIPAddress(cell)
		r.FixedIPAddress = &address
		return err
	},
	"kind":           readWord("kind", domain.Kinds, func(r *bulk.Row) **domain.Kind { return &r.Kind }),
	"subscriberType": readWord("subscriberType", domain.SubscriberTypes, func(r *bulk.Row) **domain.SubscriberType { return &r.SubscriberType }),
	"isActive":       readTruth("isActive", func(r *bulk.Row) **bool { return &r.IsActive }),
	"eid":            readNumber("eid", func(r *bulk.Row) **string { return &r.EID }),
	"smdpProvider": func(r *bulk.Row, cell string) error {
		r.SMDPProvider = &cell
		return nil
	},
	"parent":            readNumber("parent", func(r *bulk.Row) **string { return &r.ParentPhysicalID }),
	"isEnabledOnParent": readTruth("isEnabledOnParent", func(r *bulk.Row) **bool { return &r.IsEnabledOnParent }),
}

type reading = func(r *bulk.Row, cell string) error

func readTruth(name string, of func(*bulk.Row) **bool) reading {
	return func(r *bulk.Row, cell string) error {
		truth, known := truths[ascii.Lower(cell)]
		if !known {
			return domain.Invalid(name, "%s is true or false, not %q", name, clip(cell))
		}
		*of(r) = &truth
		return nil
	}
}

func readDate(name string, of func(*bulk.Row) **time.Time) reading {
	return func(r *bulk.Row, cell string) error {
		for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
			if at, err := time.Parse(layout, cell); err == nil && at.Year() > 0 && at.Year() <= 9999 {
				*of(r) = new(at.UTC())
				return nil
			}
		}
		return domain.Invalid(name, "%s is a date such as 2026-11-30, in UTC, or a time such as 2026-11-30T12:00:00Z, not %q", name, clip(cell))
	}
}

// readNumber reads what spreadsheets may take for a number.
func readNumber(name string, of func(*bulk.Row) **string) reading {
	return func(r *bulk.Row, cell string) error {
		if rounded.MatchString(cell) {
			return errRounded(name, cell)
		}
		*of(r) = &cell
		return nil
	}
}

func errRounded(name, cell string) error {
	what := name
	if name == identifier {
		what = "the identifier"
	}
	return domain.Invalid(name, "a spreadsheet has rounded %s to %s: format the column as text and export again", what, cell)
}

// readWord reads one of some words, as the REST paths or as the graph spells it.
func readWord[T ~string](name string, words []T, of func(*bulk.Row) **T) reading {
	return func(r *bulk.Row, cell string) error {
		word := T(strings.ReplaceAll(ascii.Lower(cell), "_", "-"))
		if !slices.Contains(words, word) {
			return domain.Invalid(name, "%s is one of %v, not %q", name, words, clip(cell))
		}
		*of(r) = &word
		return nil
	}
}

// rounded is what spreadsheets make of long numbers.
var rounded = regexp.MustCompile(`^\d([.,]\d+)?[eE]\+?\d+$`)

var truths = map[string]bool{"true": true, "yes": true, "1": true, "false": false, "no": false, "0": false}

func readTags(to *[]domain.TagName, cell string) error {
	for name := range strings.SplitSeq(cell, tagSeparator) {
		if len(*to) > bulk.MaxTags {
			return nil // too many already: the check of the row says so
		}
		tag, err := domain.NewTagName(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		if !slices.Contains(*to, tag) {
			*to = append(*to, tag)
		}
	}
	return nil
}

// names lists the columns as the template has them.
func names() []string { return strings.Split(strings.TrimSpace(Template), ",") }

// Mapping is the field that a column of another name has, by the name of the column;
// "" leaves the column out.
type Mapping map[string]string

// ParseMapping reads texts such as "ICCID=physicalId" and "Remarks=", which leaves the
// column out.
func ParseMapping(texts []string) (Mapping, error) {
	m := Mapping{}
	for _, text := range texts {
		at := strings.LastIndex(text, "=")
		if at < 1 {
			return nil, domain.Invalid("map", "map is COLUMN=FIELD, or COLUMN= to leave it out, not %q", clip(text))
		}
		column, field := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
		if field != "" && fields[field] == nil {
			return nil, domain.Invalid("map", "%q is none of the fields %s", clip(field), strings.Join(names(), ", "))
		}
		if _, twice := m[column]; twice {
			return nil, domain.Invalid("map", "the column %q is mapped twice", clip(column))
		}
		m[column] = field
	}
	return m, nil
}

// columns returns the field of each column of a header, "" for one that is left out.
func (m Mapping) columns(header []string) ([]string, error) {
	found := make([]string, len(header))
	seen := map[string]string{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		field, mapped := m[name]
		if !mapped {
			field = known(name)
		}
		if field == "" {
			if mapped || name == "" {
				continue
			}
			return nil, domain.Invalid("map", "the column %q is unknown: map it to one of %s, or leave it out by %q", clip(name), strings.Join(names(), ", "), clip(name)+"=")
		}
		if other, twice := seen[field]; twice {
			return nil, domain.Invalid("map", "the columns %q and %q are both %s", clip(other), clip(name), field)
		}
		seen[field], found[i] = name, field
	}
	for name := range m {
		if !slices.ContainsFunc(header, func(column string) bool { return strings.TrimSpace(column) == name }) {
			return nil, domain.Invalid("map", "there is no column %q", clip(name))
		}
	}
	if _, there := seen[identifier]; !there {
		return nil, domain.Invalid("map", "no column is the %s", identifier)
	}
	return found, nil
}

// known returns the field that a column of that name is without a mapping.
func known(column string) string {
	for _, name := range names() {
		if ascii.EqualFold(name, column) {
			return name
		}
	}
	return ""
}

func clip(text string) string {
	const most = 60
	text = strings.ToValidUTF8(text, "�")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// fault is an error about a row, in the words of its owner.
func fault(err error) *domain.Error {
	if known, is := domain.AsError(err); is {
		return known
	}
	return &domain.Error{Kind: domain.KindInvalid, Message: fmt.Sprint(err)}
}
