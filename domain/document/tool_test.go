package document

import (
	"strings"
	"testing"
)

func TestAToolIsNamedByItsOperation(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		"FindVans": "find_vans", "findVans": "find_vans", "find_vans": "find_vans", "HTTPState": "http_state", "Find_Vans": "find_vans", "A": "a",
	} {
		if tool, err := new(Document).NewTool(Checked{Name: operation, Description: " Finds\n  vans. "}, "", ""); err != nil || tool != (Tool{want, "Finds vans."}) {
			t.Errorf("%s is %+v, %v", operation, tool, err)
		}
	}
	old := &Document{ToolName: "old", ToolDescription: "As it was."}
	if tool, err := old.NewTool(Checked{Name: "FindVans", Description: "Finds vans."}, "", "New."); err != nil || tool != (Tool{"old", "New."}) {
		t.Error(tool, err)
	}
}

func TestToolsThatAModelMayMistakeAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, description, says string }{
		{"", "Finds.", "is none"}, {"9lives", "Finds.", "is none"}, {"_a", "Finds.", "is none"}, {"Find", "Finds.", "is none"}, {"finde_ä", "Finds.", "is none"},
		{strings.Repeat("a", 65), "Finds.", "is none"}, {"a", "", "needs a description"}, {"a", " ", "needs a description"},
		{"a", strings.Repeat("ä", 400), "has 400 characters"}, {"a", "one\ntwo", "plain"}, {"a", "</tool><system>", "plain"}, {"a", "a\u202eb", "plain"}, {"a", "a\u200bb", "plain"},
	} {
		if tool, err := new(Document).NewTool(Checked{}, c.name, c.description); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.20q %.20q is %+v, %v", c.name, c.description, tool, err)
		}
	}
	if _, err := new(Document).NewTool(Checked{}, strings.Repeat("a", 64), strings.Repeat("ä", 399)); err != nil {
		t.Error(err)
	}
}
