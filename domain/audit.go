package domain

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"time"
	"unicode/utf8"

	"simgraph/domain/query"
)

// The actions that the audit log records. Importing what bundles hold is an
// action per type: import.subscribers. So is exporting rows: export.usage. What db/kept keeps
// has its name before create, edit and delete: note.edit.
const (
	AuditSubscriberEdit   = "subscriber.edit"
	AuditSubscriberCreate = "subscriber.create"
	AuditGroupEdit        = "group.edit"
	AuditGroupCreate      = "group.create"
	AuditGroupRemove      = "group.remove"
	AuditTariffCreate     = "tariff.create"
	AuditTariffEdit       = "tariff.edit"
	AuditTariffRemove     = "tariff.remove"
	AuditUserCreate       = "user.create"
	AuditUserEdit         = "user.edit"
	AuditUserRemove       = "user.remove"
	AuditUserInvite       = "user.invite"
	AuditUserWithdraw     = "user.withdraw"
	AuditTagAttach        = "tag.attach"
	AuditTagDetach        = "tag.detach"
	AuditAlertCreate      = "alert.create"
	AuditAlertEdit        = "alert.edit"
	AuditAlertDelete      = "alert.delete"
	AuditRecipientCreate  = "recipient.create"
	AuditRecipientEdit    = "recipient.edit"
	AuditRecipientDelete  = "recipient.delete"
	AuditRecipientTest    = "recipient.test"
	AuditRecipientRestore = "recipient.restore"
	AuditUnsubscribe      = "recipient.unsubscribe"
	AuditKeyCreate        = "accessKey.create"
	AuditKeyEdit          = "accessKey.edit"
	AuditKeyRotate        = "accessKey.rotate"
	AuditKeyRevoke        = "accessKey.revoke"
	AuditKeyExchange      = "accessKey.exchange"
	AuditKeyRefuse        = "accessKey.refuse"
	AuditDocumentCreate   = "trustedDocument.create"
	AuditDocumentEdit     = "trustedDocument.edit"
	AuditDocumentDelete   = "trustedDocument.delete"
	AuditRADIUSCreate     = "radiusClient.create"
	AuditRADIUSRemove     = "radiusClient.remove"
	AuditSQLRoleCreate    = "sqlRole.create"
	AuditSQLRoleDrop      = "sqlRole.drop"
	AuditWebhookCreate    = "webhook.create"
	AuditWebhookEdit      = "webhook.edit"
	AuditWebhookRotate    = "webhook.rotate"
	AuditWebhookTest      = "webhook.test"
	AuditWebhookEnable    = "webhook.enable"
	AuditWebhookDisable   = "webhook.disable"
	AuditWebhookDelete    = "webhook.delete"
	AuditWebhookReplay    = "webhook.replay"
	AuditSilenceCreate    = "silence.create"
	AuditSilenceEdit      = "silence.edit"
	AuditSilenceEnd       = "silence.end"
	AuditExport           = "export."
	AuditExportEnd        = "export.end"
	AuditProviderSet      = "commandProvider.set"
	AuditProviderRemove   = "commandProvider.remove"
	AuditProviderDisable  = "commandProvider.disable"
	AuditCommandReport    = "command.report"
	AuditCommandRetry     = "command.retry"
	AuditCommandCancel    = "command.cancel"
	AuditSourceCreate     = "source.create"
	AuditSourceEdit       = "source.edit"
	AuditSourceRotate     = "source.rotate"
	AuditSourcePause      = "source.pause"
	AuditSourceResume     = "source.resume"
	AuditSourceRemove     = "source.remove"
	AuditSourceReplay     = "source.replay"
	AuditUpstreamCreate   = "upstream.create"
	AuditUpstreamEdit     = "upstream.edit"
	AuditUpstreamPause    = "upstream.pause"
	AuditUpstreamResume   = "upstream.resume"
	AuditUpstreamSync     = "upstream.sync"
	AuditUpstreamRemove   = "upstream.remove"
	AuditUpstreamConfirm  = "upstream.confirm"
	AuditUpstreamMissing  = "upstream.missing"
	AuditProfileSave      = "sourceProfile.save"
	AuditProfileRemove    = "sourceProfile.remove"
	AuditTokenIssue       = "token.issue"
	AuditTokenRevoke      = "token.revoke"
	AuditLinkIssue        = "loginLink.issue"
	AuditLinkRequest      = "loginLink.request"
	AuditSessionBegin     = "session.begin"
	AuditSessionEnd       = "session.end"
	AuditSignInRefuse     = "signIn.refuse"
	AuditImport           = "import."
	AuditUsageReplay      = "usage.replay"
	AuditUsageRebuild     = "usage.rebuild"
	AuditUsageAnnounce    = "usage.announce"
	AuditUsageWithdraw    = "usage.withdraw"
	AuditUsageDetach      = "usage.detach"
	AuditUsageDue         = "usage.due"
	AuditUsageDrop        = "usage.drop"
	AuditUsageRestore     = "usage.restore"
	AuditUsageLost        = "usage.lost"
	AuditLedgerRetention  = "usage.retention"
	AuditRetentionSet     = "retention.set"
	AuditRetentionNotice  = "retention.announce"
	AuditRetentionEffect  = "retention.effect"
	AuditRetentionBack    = "retention.withdraw"
	AuditMigrate          = "schema.migrate"
	AuditBackup           = "database.backup"
	AuditPrune            = "audit.prune"
	AuditOperationStart   = "operation.start"
	AuditOperationRun     = "operation.run"
	AuditOperationCancel  = "operation.cancel"
	AuditOperationUndo    = "operation.undo"
)

const (
	// MaxAuditText bounds a value in an entry of the audit log, in characters; longer ones are cut.
	MaxAuditText = 256
	// MaxAuditNames bounds how many identifiers an entry of the audit log lists; more are counted.
	MaxAuditNames = 20
)

// AuditChange is a value that changed; nil stands for none.
type AuditChange struct {
	Field         string
	Before, After *string
}

// AuditEntry is who did what. The entries of a company are numbered from 1
// without gaps, and each holds a hash over itself and the one before: an entry
// that is changed, left out or put in between shows. Only the oldest may be
// gone: see PruneEntry.
type AuditEntry struct {
	Sequence int64
	// At has microseconds.
	At     time.Time
	Action string
	// SubjectType and SubjectID name what was acted on, as the graph does.
	SubjectType, SubjectID string
	Changes                []AuditChange
	// PhysicalIDs are the subscribers that it is about beside the subject: those that got a
	// tag, that a silence names. They are all of them, where Changes lists some.
	PhysicalIDs []string
	Actor
	// Reason is why, in the words of the actor; "" where none was given.
	Reason string
	// Hash is Sum in hexadecimal.
	Hash string
}

// AuditMark is a place in the log of a company: an entry's number and hash. One
// that was written down elsewhere proves that the log up to it is the same.
type AuditMark struct {
	Sequence int64
	Hash     string
}

// Content is what the hash covers beside the hash before it and the sequence:
// the company, then every field with its length before it. A reason comes last, where there is
// one: so the entries of before there were reasons keep their hashes. PhysicalIDs only help to
// find an entry, and are not covered: the version before verifies entries that have them.
func (e *AuditEntry) Content(company CompanyID) []byte {
	text := binary.BigEndian.AppendUint64(nil, uint64(company))
	text = binary.BigEndian.AppendUint64(text, uint64(e.At.UnixMicro()))
	text = binary.BigEndian.AppendUint64(text, uint64(e.UserID))
	for _, field := range []string{e.Action, e.SubjectType, e.SubjectID, e.Name, e.AccessKeyID, e.Door, e.Address, e.RequestID} {
		text = appendText(text, &field)
	}
	for _, change := range e.Changes {
		text = appendText(text, &change.Field)
		text = appendText(text, change.Before)
		text = appendText(text, change.After)
	}
	if e.Reason != "" {
		text = appendText(text, &e.Reason)
	}
	return text
}

// appendText writes the length before the text, and the largest for none.
func appendText(to []byte, text *string) []byte {
	if text == nil {
		return binary.BigEndian.AppendUint32(to, 1<<32-1)
	}
	return append(binary.BigEndian.AppendUint32(to, uint32(len(*text))), *text...)
}

// Sum is the SHA-256 over the hash of the entry before (32 zero bytes for the
// first), the sequence as eight bytes, and Content.
func (e *AuditEntry) Sum(company CompanyID, before [sha256.Size]byte) [sha256.Size]byte {
	text := binary.BigEndian.AppendUint64(before[:], uint64(e.Sequence))
	return sha256.Sum256(append(text, e.Content(company)...))
}

// Changed returns the change of a value, cut to MaxAuditText, or nothing when
// it is the same.
func Changed(field, before, after string) []AuditChange {
	if before == after {
		return nil
	}
	return []AuditChange{{field, auditText(before), auditText(after)}}
}

// AuditField is a part of a noun that the audit log notes changes of.
type AuditField[T any] struct {
	Name string
	Text func(*T) string
}

// Differences returns how one became another; nil is none.
func Differences[T any](before, after *T, fields []AuditField[T]) (all []AuditChange) {
	for _, f := range fields {
		switch {
		case before == nil:
			all = append(all, Became(f.Name, f.Text(after)))
		case after == nil:
			all = append(all, Was(f.Name, f.Text(before)))
		default:
			all = append(all, Changed(f.Name, f.Text(before), f.Text(after))...)
		}
	}
	return all
}

// Became returns the change of what was nothing before.
func Became(field, after string) AuditChange {
	return AuditChange{Field: field, After: auditText(after)}
}

// Was returns the change of what is nothing any more.
func Was(field, before string) AuditChange {
	return AuditChange{Field: field, Before: auditText(before)}
}

func auditText(text string) *string {
	if utf8.RuneCountInString(text) > MaxAuditText {
		text = string([]rune(text)[:MaxAuditText-1]) + "…"
	}
	return &text
}

// AuditFields are what the audit log can be filtered and ordered by. Of its orders the
// number is that of the moments, and the only one that an index has.
var AuditFields = query.NewFields(
	query.Field{Name: "sequence", Type: query.Integer},
	query.Field{Name: "at", Type: query.Time}.Unordered(),
	query.Field{Name: "action", Type: query.Text}.Unordered(),
	query.Field{Name: "subjectType", Type: query.Text}.Unordered(),
	query.Field{Name: "subjectId", Type: query.Text}.Unordered(),
	query.Field{Name: "physicalIds", Type: query.Set}.Unordered(),
	query.Field{Name: "actor", Type: query.Text}.Unordered(),
	query.Field{Name: "accessKeyId", Type: query.Text}.Unordered(),
	query.Field{Name: "door", Type: query.Text}.Unordered(),
	query.Field{Name: "address", Type: query.Text}.Unordered(),
	query.Field{Name: "requestId", Type: query.Text}.Unordered(),
	query.Field{Name: "reason", Type: query.Text}.Unordered(),
)

// AuditLog reads who did what in a company. The stores write it, each entry in
// the transaction of the change it records. It is the whole company's: a restricted
// scope is Forbidden.
type AuditLog interface {
	// List lists entries, the newest first unless the listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*AuditEntry], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// All yields every entry after the one of that number, the oldest first,
	// and ends after its first error.
	All(ctx context.Context, scope Scope, after int64) iter.Seq2[*AuditEntry, error]
	// Verify checks all that is there now against the marks, and returns the
	// end: see VerifyAudit.
	Verify(ctx context.Context, scope Scope, known ...AuditMark) (AuditMark, error)
	// Note adds an entry about what no store records itself.
	Note(ctx context.Context, scope Scope, entry AuditEntry) error
	// Head returns the end of the log; zero when there is no entry.
	Head(ctx context.Context, scope Scope) (AuditMark, error)
}
