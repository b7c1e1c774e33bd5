package radius

import (
	"encoding/hex"
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// The values are laid out as in 3GPP TS 29.061 §16.4.7.2; tshark 4.0 shows the same of
// each, but for the second byte after the code of a routing area.
func TestLocationsAreDecoded(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"00" + "32f451" + "1234" + "0011":                    "CGI 23415 4660 17",
		"01" + "130014" + "1234" + "ffff":                    "SAI 310410 4660 65535",
		"02" + "32f451" + "1234" + "07ff":                    "RAI 23415 4660 7",
		"80" + "32f451" + "1234":                             "TAI 23415 4660",
		"81" + "32f451" + "f1a2b3c4":                         "ECGI 23415 - 27440068",
		"82" + "32f451" + "1234" + "32f451" + "01a2b3c4":     "ECGI 23415 4660 27440068",
		"84" + "32f451" + "1234" + "32f451" + "0abcde":       "TAI 23415 4660",
		"86" + "32f451" + "1234" + "32f451" + "1abcde":       "TAI 23415 4660",
		"87" + "32f451" + "0123456789":                       "NCGI 23415 - 305419896",
		"88" + "32f451" + "001234":                           "TAI 23415 4660",
		"89" + "32f451" + "001234" + "32f451" + "fffffffff0": "NCGI 23415 4660 68719476735",
		"8b" + "32f451" + "001234" + "32f451" + "00abcdef":   "TAI 23415 4660",
		"00" + "32f451" + "1234" + "00":                      "",
		"82" + "32f451" + "1234" + "32f451":                  "",
		"00" + "ffffff" + "1234" + "0011":                    "",
		"00":                                                 "",
		"03" + "32f451" + "1234" + "0011":                    "",
		"83" + "32f451" + "0abcde":                           "",
		"ff" + "32f451":                                      "",
		"":                                                   "",
	} {
		raw, err := hex.DecodeString(value)
		fatal.If(t, err)
		if got := (vendorAttributes{locationType: raw}).cell(); got != want {
			t.Errorf("%s is %q, not %q", value, got, want)
		}
	}
}

// What a simulated gateway states of a cell is read as that cell.
func TestLocationsAreStatedAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for _, want := range []string{
		"CGI 23415 4660 17", "SAI 310410 4660 65535", "ECGI 23415 4660 27440068", "NCGI 20801 4660 68719476735",
	} {
		cell, err := domain.ParseRadioCell(want)
		fatal.If(t, err)
		if got := (vendorAttributes{locationType: Location(*cell)}).cell(); got != want {
			t.Errorf("%q is read as %q", want, got)
		}
	}
	if got := Location(domain.RadioCell{Kind: domain.CellTAI, Network: "23415"}); got != nil {
		t.Errorf("% x", got)
	}
}

func FuzzLocation(f *testing.F) {
	f.Add([]byte("\x8232f451123432f45101a2b3c4"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := (vendorAttributes{locationType: raw}).cell(); got != "" {
			if _, err := domain.ParseRadioCell(got); err != nil {
				t.Error(err)
			}
		}
	})
}
