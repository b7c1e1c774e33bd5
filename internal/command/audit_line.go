package command

import (
	"time"

	"simgraph/domain"
)

// auditLine is an entry of the audit log in an export. companyNumber, userId
// and the rest are what the hash covers.
type auditLine struct {
	Company       string           `json:"company"`
	CompanyNumber domain.CompanyID `json:"companyNumber"`
	Sequence      int64            `json:"sequence"`
	At            time.Time        `json:"at"`
	Action        string           `json:"action"`
	SubjectType   string           `json:"subjectType"`
	SubjectID     string           `json:"subjectId"`
	Changes       []auditChange    `json:"changes"`
	UserID        int64            `json:"userId"`
	Actor         string           `json:"actor"`
	AccessKeyID   string           `json:"accessKeyId"`
	Door          string           `json:"door"`
	Address       string           `json:"address"`
	RequestID     string           `json:"requestId"`
	Hash          string           `json:"hash"`
}

type auditChange struct {
	Field  string  `json:"field"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

func newAuditLine(company *domain.Company, e *domain.AuditEntry) auditLine {
	changes := make([]auditChange, len(e.Changes))
	for i, c := range e.Changes {
		changes[i] = auditChange(c)
	}
	return auditLine{
		Company: company.ExternalID, CompanyNumber: company.CompanyID, Sequence: e.Sequence, At: e.At, Action: e.Action,
		SubjectType: e.SubjectType, SubjectID: e.SubjectID, Changes: changes, UserID: e.UserID, Actor: e.Name, AccessKeyID: e.AccessKeyID,
		Door: e.Door, Address: e.Address, RequestID: e.RequestID, Hash: e.Hash,
	}
}

// entry is what the line was made from.
func (l *auditLine) entry() *domain.AuditEntry {
	changes := make([]domain.AuditChange, len(l.Changes))
	for i, c := range l.Changes {
		changes[i] = domain.AuditChange(c)
	}
	return &domain.AuditEntry{
		Sequence: l.Sequence, At: l.At, Action: l.Action, SubjectType: l.SubjectType, SubjectID: l.SubjectID, Changes: changes, Hash: l.Hash,
		Actor: domain.Actor{
			UserID: l.UserID, Name: l.Actor, AccessKeyID: l.AccessKeyID,
			Origin: domain.Origin{Door: l.Door, Address: l.Address, RequestID: l.RequestID},
		},
	}
}
