package radius

import (
	"encoding/binary"
	"fmt"

	"simgraph/domain"
)

// The types of 3GPP-User-Location-Info that are read (3GPP TS 29.061 §16.4.7.2). Of those
// with a base station and no cell, the tracking area is.
const (
	locationCGI        = 0
	locationSAI        = 1
	locationRAI        = 2
	locationTAI        = 128
	locationECGI       = 129
	locationTAIECGI    = 130
	locationTAIeNodeB  = 132
	locationTAIENodeB  = 134
	locationNCGI       = 135
	location5GSTAI     = 136
	location5GSTAINCGI = 137
	location5GSTAINode = 139
)

// The sizes of the parts, in bytes.
const (
	plmnSize          = 3
	areaSize          = 2
	area5GSSize       = 3
	cellSize          = 2
	eciSize           = 4
	nciSize           = 5
	halfByte          = 4
	eciMask     int64 = 1<<28 - 1
)

// location reads 3GPP-User-Location-Info: the identities of 3GPP TS 29.274 §8.21, and of
// TS 38.413 for NR.
type location struct {
	rest    []byte
	isShort bool
}

// number is the next bytes as a number.
func (l *location) number(size int) int64 {
	if l.isShort = l.isShort || len(l.rest) < size; l.isShort {
		return 0
	}
	n := int64(0)
	for _, b := range l.rest[:size] {
		n = n<<8 | int64(b)
	}
	l.rest = l.rest[size:]
	return n
}

// network is the next MCC and MNC. An MNC of two digits has an F in its place of the third.
func (l *location) network() string {
	n := l.number(plmnSize)
	at := func(nibble int) int64 { return n >> (halfByte * nibble) & 0xf }
	text := fmt.Sprintf("%x%x%x%x%x", at(4), at(5), at(2), at(0), at(1))
	if third := at(3); third != 0xf {
		text += fmt.Sprintf("%x", third)
	}
	return text
}

// of returns a cell of the network that is next, with an area and a number.
func (l *location) of(kind domain.CellKind, area, number int) *domain.RadioCell {
	c := &domain.RadioCell{Kind: kind, Network: l.network()}
	if area > 0 {
		c.Area = new(l.number(area))
	}
	if number > 0 {
		c.Number = new(l.number(number))
	}
	return c
}

// routingArea has a code of one byte, which another follows.
func (l *location) routingArea() *domain.RadioCell {
	c := l.of(domain.CellRAI, areaSize, cellSize)
	*c.Number >>= 8
	return c
}

// eutran is a cell of E-UTRAN, of which four bits before the number are spare.
func (l *location) eutran() *domain.RadioCell {
	c := l.of(domain.CellECGI, 0, eciSize)
	*c.Number &= eciMask
	return c
}

// nr is a cell of NR, of which four bits after the number are spare: it is a string of
// bits in TS 38.413. Wireshark reads it the same.
func (l *location) nr() *domain.RadioCell {
	c := l.of(domain.CellNCGI, 0, nciSize)
	*c.Number >>= halfByte
	return c
}

// within gives a cell the code of its tracking area.
func within(area, cell *domain.RadioCell) *domain.RadioCell {
	cell.Area = area.Area
	return cell
}

// cell is what 3GPP-User-Location-Info states, as a domain.RadioCell is written; "" for
// none, and for what cannot be read.
func (v vendorAttributes) cell() string {
	value := v[locationType]
	if len(value) == 0 {
		return ""
	}
	l := &location{rest: value[1:]}
	var cell *domain.RadioCell
	switch value[0] {
	case locationCGI:
		cell = l.of(domain.CellCGI, areaSize, cellSize)
	case locationSAI:
		cell = l.of(domain.CellSAI, areaSize, cellSize)
	case locationRAI:
		cell = l.routingArea()
	case locationTAI, locationTAIeNodeB, locationTAIENodeB:
		cell = l.of(domain.CellTAI, areaSize, 0)
	case locationECGI:
		cell = l.eutran()
	case locationTAIECGI:
		cell = within(l.of(domain.CellTAI, areaSize, 0), l.eutran())
	case locationNCGI:
		cell = l.nr()
	case location5GSTAI, location5GSTAINode:
		cell = l.of(domain.CellTAI, area5GSSize, 0)
	case location5GSTAINCGI:
		cell = within(l.of(domain.CellTAI, area5GSSize, 0), l.nr())
	default:
		return ""
	}
	text := cell.String()
	if _, err := domain.ParseRadioCell(text); err != nil || l.isShort {
		return ""
	}
	return text
}

// Location returns the 3GPP-User-Location-Info of a CGI or SAI, and of an ECGI or NCGI with
// its tracking area; nil of another.
func Location(c domain.RadioCell) []byte {
	if c.Area == nil || c.Number == nil {
		return nil
	}
	network, area := networkOf(c.Network), binary.BigEndian.AppendUint64(nil, uint64(*c.Area))
	number := *c.Number
	kind, areaBytes, numberBytes := locationCGI, areaSize, cellSize
	switch c.Kind {
	case domain.CellCGI:
	case domain.CellSAI:
		kind = locationSAI
	case domain.CellECGI:
		kind, numberBytes = locationTAIECGI, eciSize
	case domain.CellNCGI:
		kind, areaBytes, numberBytes, number = location5GSTAINCGI, area5GSSize, nciSize, number<<halfByte
	default:
		return nil
	}
	b := append([]byte{byte(kind)}, network...)
	b = append(b, area[len(area)-areaBytes:]...)
	if c.Kind == domain.CellECGI || c.Kind == domain.CellNCGI {
		b = append(b, network...)
	}
	last := binary.BigEndian.AppendUint64(nil, uint64(number))
	return append(b, last[len(last)-numberBytes:]...)
}

// networkOf is an MCC and MNC as location.network reads them.
func networkOf(text string) []byte {
	at := func(i int) byte {
		if i < len(text) {
			return text[i] - '0'
		}
		return 0xf
	}
	return []byte{at(1)<<halfByte | at(0), at(5)<<halfByte | at(2), at(4)<<halfByte | at(3)}
}
