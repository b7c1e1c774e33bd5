package model

import (
	"time"

	"simgraph/domain"
)

// Session is a session as the graph shows it: null for what was not reported.
type Session struct {
	Source, SessionID                                  string
	NAS, Cause, APN, IPAddress, IPv6Prefix             *string
	RATType, IMEI, VisitedNetwork                      *string
	BeganAt, ReportedAt                                time.Time
	EndedAt                                            *time.Time
	IsTransferring, IsIncomplete                       bool
	MobileOriginated, MobileTerminated, Total, Reports int64
}

// NewSession returns what the graph shows of a session.
func NewSession(s *domain.Session) *Session {
	shown := &Session{
		Source: s.Source, SessionID: s.SessionID, NAS: reported(s.NAS), Cause: reported(s.Cause), APN: reported(s.APN),
		RATType: reported(s.RATType), IMEI: reported(s.IMEI), VisitedNetwork: reported(s.VisitedNetwork),
		BeganAt: s.BeganAt, ReportedAt: s.ReportedAt, EndedAt: s.EndedAt, IsTransferring: s.IsTransferring, IsIncomplete: s.Decreased,
		MobileOriginated: s.MobileOriginated, MobileTerminated: s.MobileTerminated, Total: s.MobileOriginated + s.MobileTerminated, Reports: s.Reports,
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
