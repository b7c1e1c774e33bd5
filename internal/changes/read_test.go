package changes_test

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/internal/changes"
	"simgraph/internal/fatal"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, file string, mapping ...string) ([]bulk.Row, error) {
	t.Helper()
	m, err := changes.ParseMapping(mapping)
	fatal.If(t, err)
	return all(changes.Read(strings.NewReader(file), m, now))
}

// all collects the rows of a file.
func all(file iter.Seq2[bulk.Row, error]) (rows []bulk.Row, err error) {
	for row, err := range file {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// text is a row as tests compare it.
func text(r bulk.Row) string {
	if r.Fault != nil {
		return fmt.Sprintf("%d %s: %s", r.Line, r.PhysicalID, r.Fault.Message)
	}
	return fmt.Sprintf("%d %s: %s", r.Line, r.PhysicalID, r.String())
}

func texts(rows []bulk.Row) string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = text(row)
	}
	return strings.Join(all, "\n")
}

func TestFilesOfEverySpreadsheetAreRead(t *testing.T) {
	t.Parallel()
	const want = `2 8944: add the tag "new", add the tag "old", set the nickname "a, b", bar`
	for name, file := range map[string]string{
		"commas":             "physicalId,nickname,addTags,isBarred\n8944,\"a, b\",new|old,true\n",
		"semicolons":         "physicalId;nickname;addTags;isBarred\n8944;a, b;new | old;TRUE\n",
		"tabs":               "physicalId\tnickname\taddTags\tisBarred\n8944\ta, b\tnew|old|new\tyes\n",
		"a byte order mark":  "\ufeffphysicalId,nickname,addTags,isBarred\r\n8944,\"a, b\",new|old,1\r\n",
		"another order":      "ISBARRED , addtags,physicalid,Nickname\n true ,new|old, 8944,\"a, b\"",
		"lines without text": "physicalId,nickname,addTags,isBarred\n8944,\"a, b\",new|old,true\n\n,,,\n",
		"the template":       changes.Template + "8944,\"a, b\",,new|old,,true,," + strings.Repeat(",", 15) + "\n",
		"notes":              "physicalId,nickname,addTags,isBarred\n8944,\"a, b\",new|old,true\n# 8945,x,,\n#,,,\n\"# a note, with a comma\"\n",
	} {
		rows, err := read(t, file)
		if err != nil || texts(rows) != want {
			t.Errorf("%s: %q, %v", name, texts(rows), err)
		}
	}
}

func TestColumnsOfOtherNamesAreMapped(t *testing.T) {
	t.Parallel()
	rows, err := read(t, "ICCID;Remarks;Label=1;Group\n8944;x;A;12\n8945;;B;none\n", "ICCID=physicalId", "Remarks=", "Label=1=nickname", "Group=groupId")
	if want := "2 8944: move into the group 12, set the nickname \"A\"\n3 8945: move out of the group, set the nickname \"B\""; err != nil || texts(rows) != want {
		t.Errorf("%q, %v", texts(rows), err)
	}
	for _, c := range []struct{ header, mapping, want string }{
		{"physicalId,ICCID", "ICCID=physicalId", `the columns "physicalId" and "ICCID" are both physicalId`},
		{"physicalId,nick", "nick=", ""},
		{"physicalId,nick", "Nick=nickname", `the column "nick" is unknown: map it to one of physicalId,`},
		{"physicalId", "Nick=nickname", `there is no column "Nick"`},
		{"nickname", "nickname=nickname", "no column is the physicalId"},
	} {
		_, err := read(t, c.header+"\n8944,x\n", c.mapping)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with %s: %v", c.header, c.mapping, err)
		}
	}
	for _, wrong := range []string{"", "physicalId", "=physicalId", "A=iccid"} {
		if _, err := changes.ParseMapping([]string{wrong}); err == nil {
			t.Errorf("%q is a mapping", wrong)
		}
	}
}

// A line says what a new subscriber is, in the words of the REST paths or of the graph.
func TestLinesSayWhatANewSubscriberIs(t *testing.T) {
	t.Parallel()
	const header = "physicalId,tariffName,subscriberId,operatorCode,contractLength,connectionDate,expiryDate,imsi,dataNumber,fixedIpAddress,kind,subscriberType,isActive,eid,smdpProvider,parent,isEnabledOnParent\n"
	rows, err := read(t, header+
		"8944,IoT,4477,23415,12,2026-01-01,2028-01-01T12:00:00+01:00,2341,99,10.0.0.1,NON_IP,Virtual,no,890,Thales,8901,yes\n"+
		"8945,IoT,4.477E+11,23415,12,2026-01-01,2028-01-01,,,,,,,,,,\n"+
		"8946,IoT,4477,23415,a year,2026-01-01,2028-01-01,,,,,,,,,,\n"+
		"8947,IoT,4477,23415,12,1.1.2026,2028-01-01,,,,,,,,,,\n"+
		"8948,IoT,4477,23415,12,2026-01-01,2028-01-01,,,10.0.0,,,,,,,\n"+
		"8949,IoT,4477,23415,12,2026-01-01,2028-01-01,,,,iridium,,,,,,\n"+
		"8950,IoT,4477,23415,12,2028-01-01,2026-01-01,,,,,,,,,,\n"+
		"8951,IoT,4477,23415,12,2026-01-01,2028-01-01,,,,,,,,,8951,true\n"+
		"8952,IoT,4477,23415,12,2026-01-01,2028-01-01,,,10.0.0.1,,,,,,,\n")
	fatal.If(t, err)
	at := func(year, hour int) *time.Time { return new(time.Date(year, 1, 1, hour, 0, 0, 0, time.UTC)) }
	want := bulk.Stated{
		Kind: new(domain.NonIP), SubscriberID: new("4477"), DataNumber: new("99"), IMSI: new("2341"), FixedIPAddress: new("10.0.0.1"), OperatorCode: new("23415"),
		ContractLength: new(12), ConnectionDate: at(2026, 0), ExpiryDate: at(2028, 11), IsActive: new(false), SubscriberType: new(domain.Virtual),
		EID: new("890"), SMDPProvider: new("Thales"), ParentPhysicalID: new("8901"), IsEnabledOnParent: new(true),
	}
	if got := rows[0].Stated; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for i, message := range []string{
		"a spreadsheet has rounded subscriberId to 4.477E+11", `contractLength is a whole number of months, not "a year"`, "connectionDate is a date such as 2026-11-30",
		"a fixed IP address is written as", `kind is one of [cellular non-ip satellite], not "iridium"`, "expiryDate must not be before connectionDate", "a subscriber cannot be its own parent",
		"line 2 has the same fixed address",
	} {
		if row := rows[i+1]; row.Fault == nil || !strings.Contains(row.Fault.Message, message) {
			t.Errorf("%+v, want %q", row.Fault, message)
		}
	}
}

// Every line at fault is found at once, with where it begins.
func TestLinesAtFaultAreRows(t *testing.T) {
	t.Parallel()
	rows, err := read(t, "physicalId,nickname,groupId,addTags,removeTags,isBarred,terminateDate\n"+
		"8.94E+18,x,,,,,\n"+
		"8944,\"two\nlines\",,,,,\n"+
		"8944,x,,,,,\n"+
		"8944,x,,,,,\n"+
		"8945,x,,,,\n"+
		"8946,,twelve,,,,\n"+
		"8947,,,,,maybe,\n"+
		"8948,,,,,,30.11.2026\n"+
		"8949,,,,,,2027-01-01\n"+
		"8950,,,a,a,,\n"+
		"8951,,,,,,\n"+
		",x,,,,,\n"+
		"89\x00,x,,,,,\n"+
		"8952,\xff,,,,,\n"+
		"8953,x\"y,,,,,\n"+
		"8954,,,,,,2026-11-01\n"+
		"8955,\"never closed,,,,,\n8956,x,,,,,\n")
	fatal.If(t, err)
	want := []string{
		"2 : a spreadsheet has rounded the identifier to 8.94E+18: format the column as text and export again",
		"3 8944: nickname must not hold",
		"5 8944: set the nickname \"x\"",
		"6 8944: line 5 names the same subscriber",
		"7 : the line has 6 cells, the header has 7",
		"8 8946: groupId is the number of a group or \"none\", not \"twelve\"",
		"9 8947: isBarred is true or false, not \"maybe\"",
		"10 8948: terminateDate is a date such as",
		"11 8949: terminateDate is in the future",
		"12 8950: the tag \"a\" is added and removed",
		"13 8951: the line has nothing that changes",
		"14 : the line names no subscriber: its physicalId is empty",
		"15 89: physicalId must not hold",
		"16 8952: nickname is not in UTF-8",
		"17 : no valid CSV: bare \" in non-quoted-field in column",
		"18 8954: terminate on 2026-11-01T00:00:00Z",
		"19 : a quote is not closed where it should be: lines 19 to ",
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows:\n%s", len(rows), texts(rows))
	}
	for i, row := range rows {
		if !strings.HasPrefix(text(row), want[i]) {
			t.Errorf("got %q, want %q", text(row), want[i])
		}
	}
}

func TestFilesThatCannotBeReadAreRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"nothing":           {"", "the file is empty"},
		"a header alone":    {"physicalId,nickname\n", "no line beneath its header"},
		"UTF-16":            {"\xff\xfep\x00h\x00", "UTF-16"},
		"another encoding":  {"physicalId,n\xe4me\n8944,x\n", "not in UTF-8"},
		"a quote":           {"\"physicalId,nickname\n8944,x\n", "the first line is no CSV"},
		"too many columns":  {"physicalId" + strings.Repeat(",", 300) + "\n", "at most 200 columns"},
		"too many lines":    {"physicalId,nickname\n" + strings.Repeat("8944,x\n", bulk.MaxRows+1), "at most 200000 subscribers"},
		"an unknown column": {"physicalId,imei\n8944,1\n", `the column "imei" is unknown`},
		"an open quote":     {"physicalId,nickname\n8944,\"" + strings.Repeat("x\n", 1<<20), "a line has more than 1 MB"},
		"a wide line":       {"physicalId,nickname\n8944," + strings.Repeat("x", 2<<20) + "\n", "a line has more than 1 MB"},
		"a line of cells":   {"physicalId,nickname\n8944," + strings.Repeat(",", 1<<19) + "\n", "a line has more than 100000 cells"},
	} {
		if _, err := read(t, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A cell of very many tags is refused without a comparison of each with all.
func TestNoMoreTagsAreReadThanAChangeHas(t *testing.T) {
	t.Parallel()
	var cell strings.Builder
	for n := range 100_000 {
		fmt.Fprintf(&cell, "%d|", n)
	}
	rows, err := read(t, "physicalId,addTags\n8944,"+cell.String()+"last\n8945,a\n")
	if err != nil || len(rows) != 2 || rows[0].Fault == nil || !strings.Contains(rows[0].Fault.Message, "at most 20 tags") || rows[1].Fault != nil {
		t.Errorf("%q, %v", texts(rows), err)
	}
}

// Whatever a file holds, each of its rows names a subscriber or has a fault.
func FuzzRead(f *testing.F) {
	f.Add(changes.Template + "8944,\"a, b\",12,new|old,x,true,IoT,2026-11-01\n")
	f.Add("physicalId;nickname\n8.94E+18;\"\n")
	f.Add("\ufeffphysicalId\tnickname\n\t\n8944\tx\n")
	f.Fuzz(func(t *testing.T, file string) {
		rows, err := all(changes.Read(strings.NewReader(file), nil, now))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, row := range rows {
			if row.Line < 2 || row.Fault == nil && (row.PhysicalID == "" || row.IsEmpty() || seen[row.PhysicalID]) {
				t.Errorf("%+v", row)
			}
			if row.Fault == nil {
				seen[row.PhysicalID] = true
			}
		}
	})
}
