package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
)

// AuditChain checks that entries follow on each other.
type AuditChain struct {
	company CompanyID
	end     AuditMark
}

// NewAuditChain returns the chain of a company's entries after that one; the
// zero mark stands before the first.
func NewAuditChain(company CompanyID, after AuditMark) *AuditChain {
	return &AuditChain{company, after}
}

// End is the last entry that was added.
func (c *AuditChain) End() AuditMark { return c.end }

// Add returns an error when the entry is not the next one, or not
// as it was written.
func (c *AuditChain) Add(entry *AuditEntry) error {
	if entry.Sequence != c.end.Sequence+1 {
		return fmt.Errorf("entry %d is missing", c.end.Sequence+1)
	}
	var before [sha256.Size]byte
	if _, err := hex.Decode(before[:], []byte(c.end.Hash)); err != nil {
		return fmt.Errorf("%q is no hash", c.end.Hash)
	}
	sum := entry.Sum(c.company, before)
	if entry.Hash != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("entry %d is not as it was written", entry.Sequence)
	}
	c.end = AuditMark{entry.Sequence, entry.Hash}
	return nil
}

// VerifyAudit reads the log of a company, all that is left of it after the
// anchor: the last entry that was pruned, or zero. It returns the end, or an
// error that names the first entry that is not as it was written, or is missing.
// known are marks that were stored elsewhere, and the head of the log.
func VerifyAudit(company CompanyID, anchor AuditMark, entries iter.Seq2[*AuditEntry, error], known ...AuditMark) (AuditMark, error) {
	chain := NewAuditChain(company, anchor)
	if err := anchor.meet(known); err != nil {
		return anchor, err
	}
	found := anchor == AuditMark{}
	for entry, err := range entries {
		if err == nil {
			err = chain.Add(entry)
		}
		if err == nil {
			err = chain.end.meet(known)
		}
		if err != nil {
			return chain.end, err
		}
		found = found || entry.prunedTo(anchor)
	}
	for _, mark := range known {
		if mark.Sequence > chain.end.Sequence {
			return chain.end, fmt.Errorf("entry %d is missing", chain.end.Sequence+1)
		}
		if mark.Sequence < anchor.Sequence {
			return chain.end, fmt.Errorf("entry %d was pruned: what proves it is an export that goes on to entry %d", mark.Sequence, anchor.Sequence)
		}
	}
	if !found {
		return chain.end, fmt.Errorf("the entries up to %d are missing: no entry records that they were pruned", anchor.Sequence)
	}
	return chain.end, nil
}

// meet returns an error when one of the marks is of the same entry with another
// hash.
func (m AuditMark) meet(known []AuditMark) error {
	for _, mark := range known {
		if mark.Sequence == m.Sequence && mark.Hash != m.Hash {
			return fmt.Errorf("the log up to entry %d is not the one that was noted", m.Sequence)
		}
	}
	return nil
}

const prunedHash = "hash"

// PruneEntry records that the n oldest entries up to the last one were removed.
func PruneEntry(last AuditMark, n int) AuditEntry {
	return AuditEntry{
		Action: AuditPrune, SubjectType: "AuditEntry", SubjectID: strconv.FormatInt(last.Sequence, 10),
		Changes: []AuditChange{Was("entries", strconv.Itoa(n)), Was(prunedHash, last.Hash)},
	}
}

// prunedTo reports whether the entry is the PruneEntry of that mark.
func (e *AuditEntry) prunedTo(last AuditMark) bool {
	if e.Action != AuditPrune || e.SubjectID != strconv.FormatInt(last.Sequence, 10) {
		return false
	}
	for _, change := range e.Changes {
		if change.Field == prunedHash && change.Before != nil && *change.Before == last.Hash {
			return true
		}
	}
	return false
}
