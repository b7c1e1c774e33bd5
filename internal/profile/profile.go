// Package profile reads what senders send by profiles: see domain/source. Expressions are
// CEL, compiled once, with a limit of cost; they see the record alone.
package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"

	"simgraph/domain"
	"simgraph/domain/source"
)

// maxCost bounds an evaluation of an expression, in CEL's units: about an operation each,
// and one for ten characters of a text.
const maxCost = 20_000

// environment has the functions on texts, numbers, times and maps, without those that go
// over lists.
var environment = func() *cel.Env {
	env, err := cel.NewCustomEnv(
		cel.StdLib(), cel.ClearMacros(), cel.Macros(cel.HasMacro), cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(5)), ext.Math(),
		cel.Variable("r", cel.MapType(cel.StringType, cel.DynType)),
	)
	if err != nil {
		panic(err) // it does not depend on any input
	}
	return env
}()

// Compiled is a profile whose expressions are compiled. It can be used by several
// goroutines at a time.
type Compiled struct {
	source.Profile
	fields []field
	skip   *expression
	zone   *time.Location
	// layouts are the date formats, as time has them.
	layouts []string
}

type field struct {
	name source.Field
	*expression
}

// expression is a compiled one.
type expression struct {
	program cel.Program
	// selection is nil where it is more than that.
	selection *selection
}

// Compile checks a profile.
func Compile(p source.Profile) (*Compiled, error) {
	p = p.WithDefaults()
	if err := p.Check(); err != nil {
		return nil, err
	}
	c := &Compiled{Profile: p}
	var err error
	if c.zone, err = time.LoadLocation(p.TimeZone); err != nil {
		return nil, domain.Invalid("timeZone", "there is no time zone %.60q", p.TimeZone)
	}
	for i, f := range p.Fields {
		compiled, err := compile(f.Expression, nil)
		if err != nil {
			return nil, domain.At(domain.Item("fields", i), domain.Invalid("fields", "%s: %v", f.Field, err))
		}
		c.fields = append(c.fields, field{f.Field, compiled})
	}
	if p.Skip != "" {
		if c.skip, err = compile(p.Skip, cel.BoolType); err != nil {
			return nil, domain.Invalid("skip", "skip: %v", err)
		}
	}
	for i, format := range p.DateFormats {
		layout, err := layoutOf(format)
		if err != nil {
			return nil, domain.At(domain.Item("dateFormats", i), err)
		}
		c.layouts = append(c.layouts, layout)
	}
	return c, nil
}

// Check refuses a profile that cannot be compiled.
func Check(p source.Profile) error {
	_, err := Compile(p)
	return err
}

// compile compiles an expression, which has to give the type unless that is nil.
func compile(text string, of *cel.Type) (*expression, error) {
	ast, issues := environment.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("the expression cannot be compiled: %s", oneLine(issues.Err()))
	}
	if of != nil && !ast.OutputType().IsExactType(of) && !ast.OutputType().IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the expression gives %s, not %s", ast.OutputType(), of)
	}
	program, err := environment.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	return &expression{program, selectionOf(ast.NativeRep().Expr())}, err
}

func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSpace(line)
}

// Skipped is the error of a record that the profile leaves out.
var Skipped = domain.Invalid("", "the profile skips the record")

// Read returns the usage record that a record of the sender stands for, without its Source.
// now is the time of the ledger.
func (c *Compiled) Read(record map[string]any, now time.Time) (domain.UsageRecord, error) {
	if c.skip != nil {
		value, err := c.skip.evaluate("skip", record)
		if err != nil {
			return domain.UsageRecord{}, err
		}
		if value == types.True {
			return domain.UsageRecord{}, Skipped
		}
	}
	values := reading{Compiled: c, now: now}
	for _, f := range c.fields {
		value, err := f.evaluate(string(f.name), record)
		if err != nil {
			return domain.UsageRecord{}, err
		}
		if err := values.set(f.name, value); err != nil {
			return domain.UsageRecord{}, err
		}
	}
	return values.record()
}

func (e *expression) evaluate(name string, record map[string]any) (ref.Val, error) {
	if e.selection != nil {
		if value, ok := e.selection.find(record); ok {
			return value, nil
		}
	}
	return e.byProgram(name, record)
}

func (e *expression) byProgram(name string, record map[string]any) (ref.Val, error) {
	value, _, err := e.program.Eval(map[string]any{"r": record})
	if err != nil {
		return nil, domain.Invalid(name, "%s: %.200s", name, oneLine(err))
	}
	if optional, ok := value.(*types.Optional); ok {
		if !optional.HasValue() {
			return types.NullValue, nil
		}
		value = optional.GetValue()
	}
	return value, nil
}

// reading is a record as its fields are read.
type reading struct {
	*Compiled
	now    time.Time
	of     domain.UsageFields
	usage  domain.UsageRecord
	day    time.Time
	volume int64
}

func (r *reading) set(name source.Field, value ref.Val) (err error) {
	if value == types.NullValue {
		return nil
	}
	switch name {
	case source.MobileOriginated:
		r.usage.MobileOriginated, err = r.bytes(name, value)
	case source.MobileTerminated:
		r.usage.MobileTerminated, err = r.bytes(name, value)
	case source.Volume:
		r.volume, err = r.bytes(name, value)
	case source.StartedAt:
		r.usage.StartedAt, err = r.time(name, value)
	case source.EndedAt:
		r.usage.EndedAt, err = r.time(name, value)
	case source.Day:
		r.day, err = r.time(name, value)
	default:
		var text string
		if text, err = textOf(name, value); err == nil {
			*r.text(name) = strings.Clone(text) // it is a part of the whole record
		}
	}
	return err
}

func (r *reading) text(name source.Field) *string {
	switch name {
	case source.PhysicalID:
		return &r.of.PhysicalID
	case source.IMSI:
		return &r.of.IMSI
	case source.MSISDN:
		return &r.of.MSISDN
	case source.SubscriberID:
		return &r.of.SubscriberID
	case source.RecordID:
		return &r.usage.RecordID
	case source.SessionID:
		return &r.of.SessionID
	case source.Event:
		return (*string)(&r.of.Event)
	case source.Cause:
		return &r.of.Cause
	case source.Protocol:
		return &r.of.Protocol
	case source.IPAddress:
		return &r.of.IPAddress
	case source.APN:
		return &r.of.APN
	case source.RATType:
		return &r.of.RATType
	case source.IMEI:
		return &r.of.IMEI
	case source.VisitedNetwork:
		return &r.of.VisitedNetwork
	}
	return &r.of.NAS
}

// textOf writes numbers without exponent.
func textOf(name source.Field, value ref.Val) (string, error) {
	switch v := value.(type) {
	case types.String:
		return strings.TrimSpace(string(v)), nil
	case types.Int:
		return strconv.FormatInt(int64(v), 10), nil
	case types.Uint:
		return strconv.FormatUint(uint64(v), 10), nil
	case types.Double:
		if v == types.Double(math.Trunc(float64(v))) {
			return strconv.FormatFloat(float64(v), 'f', 0, 64), nil
		}
	}
	return "", domain.Invalid(string(name), "%s must be a text or a whole number, not %s", name, value.Type().TypeName())
}

// bytes reads a volume in the unit of the profile. Bytes that no fraction of the unit
// gives exactly are rounded to the nearest.
func (r *reading) bytes(name source.Field, value ref.Val) (int64, error) {
	var n float64
	switch v := value.(type) {
	case types.Int:
		if r.Unit == source.Bytes {
			return int64(v), nil
		}
		n = float64(v)
	case types.Uint:
		n = float64(v)
	case types.Double:
		n = float64(v)
	case types.String:
		text := strings.TrimSpace(string(v))
		if text == "" {
			return 0, nil
		}
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil && r.Unit == source.Bytes {
			return whole, nil
		}
		var err error
		if n, err = strconv.ParseFloat(text, 64); err != nil {
			return 0, domain.Invalid(string(name), "%s must be a number, not %.40q", name, text)
		}
	default:
		return 0, domain.Invalid(string(name), "%s must be a number, not %s", name, value.Type().TypeName())
	}
	n = math.Round(n * r.Unit.Of())
	if math.IsNaN(n) || n < 0 || n > domain.MaxCounter {
		return 0, domain.Invalid(string(name), "%s must be 0 to %d bytes", name, int64(domain.MaxCounter))
	}
	return int64(n), nil
}

func (r *reading) time(name source.Field, value ref.Val) (time.Time, error) {
	switch v := value.(type) {
	case types.Timestamp:
		return v.Time, nil
	case types.String:
		return r.parse(name, strings.TrimSpace(string(v)))
	case types.Int:
		return r.parse(name, strconv.FormatInt(int64(v), 10))
	case types.Double:
		return r.parse(name, strconv.FormatFloat(float64(v), 'f', -1, 64))
	}
	return time.Time{}, domain.Invalid(string(name), "%s must be a time, not %s", name, value.Type().TypeName())
}

const (
	unixSeconds = "unix"
	unixMillis  = "unixMillis"
)

func (r *reading) parse(name source.Field, text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	for _, layout := range r.layouts {
		if layout == unixSeconds || layout == unixMillis {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || math.Abs(n) > 1e15 {
				continue
			}
			if layout == unixSeconds {
				n *= 1000
			}
			return time.UnixMilli(int64(n)), nil
		}
		if at, err := time.ParseInLocation(layout, text, r.zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, domain.Invalid(string(name), "%s is no time of RFC 3339 or a format of the profile: %.60q", name, text)
}

// layoutOf turns yyyy-MM-dd HH:mm:ss into a layout of time.
func layoutOf(format string) (string, error) {
	if format == unixSeconds || format == unixMillis {
		return format, nil
	}
	layout := strings.NewReplacer("yyyy", "2006", "yy", "06", "MMM", "Jan", "MM", "01", "dd", "02", "HH", "15", "hh", "03", "mm", "04", "ss", "05",
		"SSS", "000", "a", "PM", "XXX", "Z07:00", "XX", "Z0700", "'", "").Replace(format)
	if !strings.Contains(layout, "06") || !strings.Contains(layout, "02") || len(format) > 40 {
		return "", domain.Invalid("dateFormats", "a date format is written like yyyy-MM-dd HH:mm:ss, unix or unixMillis, not %.60q", format)
	}
	return layout, nil
}

// record is the usage record of the fields.
func (r *reading) record() (domain.UsageRecord, error) {
	u := r.usage
	if r.Direction == source.Originated {
		u.MobileOriginated += r.volume
	} else {
		u.MobileTerminated += r.volume
	}
	switch {
	case r.Counters == source.DayTotal:
		if r.day.IsZero() {
			return u, domain.Invalid(string(source.Day), "DAY is missing")
		}
		y, m, d := r.day.In(r.zone).Date()
		r.of.SessionID = fmt.Sprintf("day:%04d-%02d-%02d", y, m, d)
		// The last moment of the day is its own: the next day's would count for that.
		u.StartedAt = time.Date(y, m, d, 0, 0, 0, 0, r.zone)
		u.EndedAt = time.Date(y, m, d+1, 0, 0, 0, 0, r.zone).Add(-time.Microsecond)
		if r.now.Before(u.EndedAt) && r.now.After(u.StartedAt) {
			u.EndedAt = r.now
		}
		r.of.Counters = domain.CumulativeCounters
	case r.Counters == source.Cumulative:
		r.of.Counters = domain.CumulativeCounters
	}
	if u.EndedAt.IsZero() {
		u.EndedAt = u.StartedAt
	}
	if u.StartedAt.IsZero() && r.Counters == source.Delta {
		u.StartedAt = u.EndedAt
	}
	if u.EndedAt.IsZero() {
		return u, domain.Invalid(string(source.EndedAt), "the record has no time")
	}
	u, err := r.of.Complete(u)
	if err == nil && u.RecordID == "" && !u.IsCumulative() {
		u.RecordID = identify(&u)
	}
	return u, err
}

// identify is the id of a record whose sender gives none: what it is about, without the
// bytes, so that a record that comes again with others is seen to be another.
func identify(u *domain.UsageRecord) string {
	network, apn := "", ""
	if u.Report != nil {
		network, apn = u.Report.VisitedNetwork, u.Report.APN
	}
	text := strings.Join([]string{
		u.PhysicalID, u.IMSI, u.MSISDN, u.SessionID, u.StartedAt.UTC().Format(time.RFC3339Nano), u.EndedAt.UTC().Format(time.RFC3339Nano),
		u.Protocol, network, apn, strconv.FormatBool(u.MobileOriginated > 0) + strconv.FormatBool(u.MobileTerminated > 0),
	}, "\x00")
	sum := sha256.Sum256([]byte(text))
	return "fields-" + hex.EncodeToString(sum[:16])
}
