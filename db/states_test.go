package db_test

import (
	"regexp"
	"testing"
)

// ofAnyState are the statements that set a state whatever it was, and why they may.
var ofAnyState = map[string]string{
	"deliverMessage":  "the endpoint has the message, whoever else claimed it",
	"endOperation":    "the operation is locked, and its state was read under the lock",
	"mailSent":        "the server has taken the mail, whoever else claimed it",
	"replaceCommands": "the provider is locked, and those that wait were read under the lock",
	"setCommand":      "the provider is locked, and the state was read under the lock",
	"writeProgress":   "the operation is locked, and its state was read under the lock",
}

var (
	// setsState finds the condition of a statement that sets a state.
	setsState  = regexp.MustCompile(`(?s)\bUPDATE\s.*?\sSET\s(?:[^;]*?[\s,])?state = .*?\sWHERE\s(.*)`)
	namesState = regexp.MustCompile(`\bstate\b`)
)

// What is over stays as it ended: a statement that sets a state says in which one the row is
// before.
func TestAStatementThatSetsAStateSaysOfWhichState(t *testing.T) {
	t.Parallel()
	statements, found := constantStatements(t), 0
	for name, sql := range statements {
		set := setsState.FindStringSubmatch(sql)
		if set == nil {
			continue
		}
		found++
		if names := namesState.MatchString(set[1]); names == (ofAnyState[name] != "") {
			t.Errorf("%s: its condition names the state: %t", name, names)
		}
	}
	for name := range ofAnyState {
		if !setsState.MatchString(statements[name]) {
			t.Errorf("%s is excused, and sets no state", name)
		}
	}
	if found < 20 {
		t.Errorf("only %d statements were found", found)
	}
}
