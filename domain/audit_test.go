package domain_test

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

// chain is a log of n entries as a store would have written it.
func chain(n int) []domain.AuditEntry {
	var hash [sha256.Size]byte
	entries := make([]domain.AuditEntry, n)
	for i := range entries {
		e := domain.AuditEntry{
			Sequence: int64(i + 1), At: time.UnixMicro(int64(i)).UTC(), Action: domain.AuditGroupEdit, SubjectType: "Group", SubjectID: "12",
			Changes: domain.Changed("name", "old", "new"), Actor: domain.Actor{UserID: 7, Name: "a@b.example", Origin: domain.Origin{Door: "rest"}},
		}
		hash = e.Sum(1, hash)
		e.Hash = hex.EncodeToString(hash[:])
		entries[i] = e
	}
	return entries
}

func each(entries []domain.AuditEntry) iter.Seq2[*domain.AuditEntry, error] {
	return func(yield func(*domain.AuditEntry, error) bool) {
		for i := range entries {
			if !yield(&entries[i], nil) {
				return
			}
		}
	}
}

func TestAnAuditLogThatWasTamperedWithDoesNotVerify(t *testing.T) {
	t.Parallel()
	whole := chain(5)
	head := domain.AuditMark{Sequence: 5, Hash: whole[4].Hash}
	if end, err := domain.VerifyAudit(1, domain.AuditMark{}, each(whole), head); err != nil || end != head {
		t.Fatalf("%v, %v", end, err)
	}
	for name, c := range map[string]struct {
		tamper func([]domain.AuditEntry) []domain.AuditEntry
		want   string
	}{
		"a field": {func(e []domain.AuditEntry) []domain.AuditEntry { e[2].Name = "c@b.example"; return e }, "entry 3 is not"},
		"a value": {func(e []domain.AuditEntry) []domain.AuditEntry {
			e[2].Changes = domain.Changed("name", "old", "x")
			return e
		}, "entry 3 is not"},
		"a reason":     {func(e []domain.AuditEntry) []domain.AuditEntry { e[2].Reason = "none"; return e }, "entry 3 is not"},
		"a time":       {func(e []domain.AuditEntry) []domain.AuditEntry { e[2].At = e[2].At.Add(1000); return e }, "entry 3 is not"},
		"one left out": {func(e []domain.AuditEntry) []domain.AuditEntry { return slices.Delete(e, 2, 3) }, "entry 3 is missing"},
		"the first":    {func(e []domain.AuditEntry) []domain.AuditEntry { return e[1:] }, "entry 1 is missing"},
		"the last":     {func(e []domain.AuditEntry) []domain.AuditEntry { return e[:4] }, "entry 5 is missing"},
		"all":          {func([]domain.AuditEntry) []domain.AuditEntry { return nil }, "entry 1 is missing"},
		"swapped": {func(e []domain.AuditEntry) []domain.AuditEntry {
			e[1], e[2] = e[2], e[1]
			e[1].Sequence, e[2].Sequence = 2, 3
			return e
		}, "entry 2 is not"},
		"written anew": {func([]domain.AuditEntry) []domain.AuditEntry {
			var hash [sha256.Size]byte
			forged := chain(5)
			forged[0].Name = "somebody else"
			for i := range forged {
				hash = forged[i].Sum(1, hash)
				forged[i].Hash = hex.EncodeToString(hash[:])
			}
			return forged
		}, "not the one that was noted"},
	} {
		_, err := domain.VerifyAudit(1, domain.AuditMark{}, each(c.tamper(chain(5))), head)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := domain.VerifyAudit(2, domain.AuditMark{}, each(whole)); err == nil {
		t.Error("the log of one company verifies as that of another")
	}
}

// The entry that records a pruning has the hash of the last entry that was pruned.
func TestALogThatWasPrunedBeginsWhereItsEntrySays(t *testing.T) {
	t.Parallel()
	old := chain(3)
	pruned := domain.AuditMark{Sequence: 3, Hash: old[2].Hash}
	for name, c := range map[string]struct {
		recorded domain.AuditMark
		verifies bool
	}{
		"the same":         {pruned, true},
		"another hash":     {domain.AuditMark{Sequence: 3, Hash: old[1].Hash}, false},
		"another sequence": {domain.AuditMark{Sequence: 2, Hash: pruned.Hash}, false},
	} {
		entry := domain.PruneEntry(c.recorded, 3)
		entry.Sequence, entry.At = 4, time.UnixMicro(4).UTC()
		var before [sha256.Size]byte
		if _, err := hex.Decode(before[:], []byte(pruned.Hash)); err != nil {
			t.Fatal(err)
		}
		sum := entry.Sum(1, before)
		entry.Hash = hex.EncodeToString(sum[:])
		if _, err := domain.VerifyAudit(1, pruned, each([]domain.AuditEntry{entry})); (err == nil) != c.verifies {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fields are distinguished by their lengths: moving text from one to the next
// changes the content.
func TestContentIsUnambiguous(t *testing.T) {
	t.Parallel()
	empty := ""
	entries := []domain.AuditEntry{
		{Action: "ab", SubjectType: "c"},
		{Action: "a", SubjectType: "bc"},
		{Changes: []domain.AuditChange{{Field: "f"}}},
		{Changes: []domain.AuditChange{{Field: "f", Before: &empty}}},
		{Changes: []domain.AuditChange{{Field: "f", After: &empty}}},
		{Changes: []domain.AuditChange{{Field: "f"}, {}}},
		{Reason: "f"},
		{Actor: domain.Actor{Origin: domain.Origin{RequestID: "f"}}},
		{Changes: []domain.AuditChange{{Field: "f"}}, Reason: "f"},
	}
	seen := map[string]int{}
	for i, e := range entries {
		e.At = time.UnixMicro(0)
		text := string(e.Content(1))
		if other, same := seen[text]; same {
			t.Errorf("entries %d and %d have the same content", other, i)
		}
		seen[text] = i
	}
}

// The hashes of entries that were written before there were reasons stay what they are.
func TestAnEntryWithoutAReasonHasTheHashThatItHad(t *testing.T) {
	t.Parallel()
	const before = "533eecaab52ba0186eb378b09786bd2aaa03acbef61f3e83083714eea5cb3a42"
	if got := chain(1)[0].Hash; got != before {
		t.Errorf("got %s", got)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	t.Parallel()
	change := domain.Became("nickname", strings.Repeat("ü", 300))
	if n := len([]rune(*change.After)); n != domain.MaxAuditText {
		t.Errorf("%d characters", n)
	}
}
