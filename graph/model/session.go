package model

import (
	"time"

	"simgraph/domain"
)

// Session is a session as the graph shows it: null for what was not reported.
type Session struct {
	// Identity identifies it within the company.
	Identity string
	// SubscriberKey is nil as long as the subscriber is not known.
	SubscriberKey                                      *int64
	Source, SessionID                                  string
	OtherSources                                       []string
	NAS, Cause, APN, IPAddress, IPv6Prefix             *string
	RATType, IMEI                                      *string
	VisitedNetwork                                     *VisitedNetwork
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

// NewSession returns what the graph shows of a session.
func NewSession(s *domain.Session) *Session {
	shown := &Session{
		Identity: s.ID(), SubscriberKey: s.SubscriberKey, Source: s.Source, OtherSources: append([]string{}, s.OtherSources...), SessionID: s.SessionID, NAS: reported(s.NAS), Cause: reported(s.Cause), APN: reported(s.APN),
		RATType: reported(s.RATType), IMEI: reported(s.IMEI),
		BeganAt: s.BeganAt, ReportedAt: s.ReportedAt, EndedAt: s.EndedAt, IsTransferring: s.IsTransferring, IsIncomplete: s.Decreased,
		MobileOriginated: s.MobileOriginated, MobileTerminated: s.MobileTerminated, Total: s.MobileOriginated + s.MobileTerminated, Reports: s.Reports,
	}
	if s.VisitedNetwork != "" {
		shown.VisitedNetwork = &VisitedNetwork{Code: s.VisitedNetwork, Country: domain.CountryOf(s.VisitedNetwork)}
	}
	if s.IPAddress.IsValid() {
		shown.IPAddress = reported(s.IPAddress.String())
	}
	if s.IPv6Prefix.IsValid() {
		shown.IPv6Prefix = reported(s.IPv6Prefix.String())
	}
	return shown
}

func reported(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
