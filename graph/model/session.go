package model

import (
	"time"

	"simgraph/domain"
)

// Session is a session as the graph shows it; what was not reported is null there.
type Session struct {
	// Identity identifies it within the company.
	Identity string
	// SubscriberKey is nil as long as the subscriber is not known.
	SubscriberKey                                      *int64
	Source, SessionID                                  string
	OtherSources                                       []string
	NAS, Cause, APN, IPAddress, IPv6Prefix             string
	RATType, IMEI                                      string
	VisitedNetwork                                     *VisitedNetwork
	Cell                                               *RadioCell
	BeganAt, ReportedAt                                time.Time
	EndedAt                                            *time.Time
	IsTransferring, IsIncomplete                       bool
	MobileOriginated, MobileTerminated, Total, Reports int64
}

// VisitedNetwork is a network that serves a subscriber. Country is nil where its
// code is no country's.
type VisitedNetwork struct {
	Code    string
	Country *domain.Country
}

// RadioCell is a cell, or an area of cells, that serves a device.
type RadioCell struct {
	Code    string
	Kind    domain.CellKind
	Network VisitedNetwork
	// Area and Number are nil for what is not reported, or what the kind has not.
	Area, Number *int64
}

// NewSession returns what the graph shows of a session.
func NewSession(s *domain.Session) *Session {
	shown := &Session{
		Identity: s.ID(), SubscriberKey: s.SubscriberKey, Source: s.Source, OtherSources: append([]string{}, s.OtherSources...), SessionID: s.SessionID, NAS: s.NAS, Cause: s.Cause, APN: s.APN,
		RATType: s.RATType, IMEI: s.IMEI,
		BeganAt: s.BeganAt, ReportedAt: s.ReportedAt, EndedAt: s.EndedAt, IsTransferring: s.IsTransferring, IsIncomplete: s.Decreased,
		MobileOriginated: s.MobileOriginated, MobileTerminated: s.MobileTerminated, Total: s.MobileOriginated + s.MobileTerminated, Reports: s.Reports,
	}
	if s.VisitedNetwork != "" {
		shown.VisitedNetwork = &VisitedNetwork{Code: s.VisitedNetwork, Country: domain.CountryOf(s.VisitedNetwork)}
	}
	if cell, err := domain.ParseRadioCell(s.Cell); err == nil {
		shown.Cell = &RadioCell{s.Cell, cell.Kind, VisitedNetwork{cell.Network, domain.CountryOf(cell.Network)}, cell.Area, cell.Number}
	}
	if s.IPAddress.IsValid() {
		shown.IPAddress = s.IPAddress.String()
	}
	if s.IPv6Prefix.IsValid() {
		shown.IPv6Prefix = s.IPv6Prefix.String()
	}
	return shown
}
