package domain

import (
	"strconv"
	"strings"
)

// CellKind is what identifies a cell, or an area of cells (3GPP TS 23.003).
type CellKind string

// The kinds.
const (
	// CellCGI is a cell of GERAN, in a location area.
	CellCGI CellKind = "CGI"
	// CellSAI is a service area of UTRAN: one or more cells, in a location area.
	CellSAI CellKind = "SAI"
	// CellRAI is a routing area, in a location area.
	CellRAI CellKind = "RAI"
	// CellTAI is a tracking area of E-UTRAN or NR.
	CellTAI CellKind = "TAI"
	// CellECGI is a cell of E-UTRAN, and CellNCGI one of NR. Their area is the tracking
	// area, where that is reported.
	CellECGI CellKind = "ECGI"
	CellNCGI CellKind = "NCGI"
)

// RadioCell is where a device is in a network.
type RadioCell struct {
	Kind CellKind
	// Network is MCC and MNC, such as 23415.
	Network string
	// Area is the code of the location area or tracking area; nil where it is not reported.
	Area *int64
	// Number is that of the cell, service area or routing area; nil for a tracking area.
	Number *int64
}

// unknownPart stands for an area that is not reported.
const unknownPart = "-"

// String is the cell as it is kept, such as "ECGI 23415 4660 27447297": kind, network,
// area (- where it is not reported) and number, if it has one.
func (c *RadioCell) String() string {
	parts := []string{string(c.Kind), c.Network, unknownPart}
	if c.Area != nil {
		parts[2] = strconv.FormatInt(*c.Area, 10)
	}
	if c.Number != nil {
		parts = append(parts, strconv.FormatInt(*c.Number, 10))
	}
	return strings.Join(parts, " ")
}

// ParseRadioCell returns the cell of such a text, and an Invalid error for another.
func ParseRadioCell(s string) (*RadioCell, error) {
	fault := Invalid("cell", `cell must be such as "ECGI 23415 4660 27447297", not %.80q`, s)
	parts := strings.Split(s, " ")
	if len(parts) < 3 || len(parts) > 4 {
		return nil, fault
	}
	c := &RadioCell{Kind: CellKind(parts[0]), Network: parts[1]}
	for i, part := range parts[2:] {
		n, err := strconv.ParseInt(part, 10, 64)
		switch {
		case i == 0 && part == unknownPart:
		case err != nil || n < 0:
			return nil, fault
		case i == 0:
			c.Area = &n
		default:
			c.Number = &n
		}
	}
	if !c.isComplete() || c.String() != s {
		return nil, fault
	}
	return c, nil
}

// isComplete reports whether the parts are there that the kind needs.
func (c *RadioCell) isComplete() bool {
	if n := len(c.Network); n != 5 && n != 6 || strings.Trim(c.Network, "0123456789") != "" {
		return false
	}
	switch c.Kind {
	case CellCGI, CellSAI, CellRAI:
		return c.Area != nil && c.Number != nil
	case CellTAI:
		return c.Area != nil && c.Number == nil
	case CellECGI, CellNCGI:
		return c.Number != nil
	}
	return false
}
