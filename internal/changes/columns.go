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

// Template is the header of a file with every column.
const Template = "physicalId,nickname,groupId,addTags,removeTags,isBarred,tariffName,terminateDate\n"

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
			return domain.Invalid(identifier, "a spreadsheet has rounded the identifier to %s: format the column as text and export again", cell)
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
	"isBarred": func(r *bulk.Row, cell string) error {
		barred, known := truths[ascii.Lower(cell)]
		if !known {
			return domain.Invalid("isBarred", "isBarred is true or false, not %q", clip(cell))
		}
		r.IsBarred = &barred
		return nil
	},
	"tariffName": func(r *bulk.Row, cell string) error {
		r.TariffName = &cell
		return nil
	},
	"terminateDate": func(r *bulk.Row, cell string) error {
		for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
			if at, err := time.Parse(layout, cell); err == nil && at.Year() > 0 && at.Year() <= 9999 {
				r.TerminateDate = new(at.UTC())
				return nil
			}
		}
		return domain.Invalid("terminateDate", "terminateDate is a date such as 2026-11-30, in UTC, or a time such as 2026-11-30T12:00:00Z, not %q", clip(cell))
	},
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
