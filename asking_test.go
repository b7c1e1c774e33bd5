package main

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// commands are all commands by their names, with the values that are run.
func commands(t *testing.T) (nodes []*kong.Node) {
	t.Helper()
	parser, err := kong.New(&commandLine{}, kong.Name("simgraph"), kong.Vars{"dataDir": "."})
	fatal.If(t, err)
	for _, node := range parser.Model.Leaves(false) {
		if node.Type == kong.CommandNode {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func nameOf(node *kong.Node) string { return strings.TrimPrefix(node.Path(), "simgraph ") }

func deletionsOf(node *kong.Node) []command.Deletion {
	if deleting, is := node.Target.Addr().Interface().(command.Deleting); is {
		return deleting.Deletes()
	}
	return nil
}

// TestTheManualSaysHowEachCommandAsks holds the table in docs/reliability.md against
// what the commands say.
func TestTheManualSaysHowEachCommandAsks(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	want.WriteString("\n| command | what goes, or is overwritten | how it asks | how to get it back |\n|---|---|---|---|\n")
	silent := []string{}
	for _, node := range commands(t) {
		deletions := deletionsOf(node)
		for _, d := range deletions {
			fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", nameOf(node), d.What, d.Asks, d.Back)
		}
		if len(deletions) == 0 {
			silent = append(silent, "`"+nameOf(node)+"`")
		}
	}
	fmt.Fprintf(&want, "\nThese delete and overwrite nothing: %s.\n\n", strings.Join(silent, ", "))
	derived(t, "docs/reliability.md", "asking", want.String())
}

// What a command does when it opens the database is in the table of what is deleted.
var opening = []string{
	"(*simgraph/internal/command.Env).open", "(*simgraph/internal/command.Env).Open",
	"(*simgraph/internal/command.Env).connect", "(*simgraph/internal/command.Env).address",
}

// Whatever command has a way to a statement or a function that deletes says what goes
// and how it asks, and asks so.
func TestCommandsThatDeleteSayHowTheyAsk(t *testing.T) {
	t.Parallel()
	sources := readSources(t)
	deleting := 0
	for _, node := range commands(t) {
		of, name := node.Target.Type(), nameOf(node)
		ways := sources.from(runOf(sources, of), opening...)
		deletions := deletionsOf(node)
		for _, deletes := range ways.deletes {
			if deletions == nil {
				t.Errorf("%s can delete, by %s, and does not say so: give it a method Deletes", name, deletes)
			}
		}
		if len(ways.deletes) > 0 {
			deleting++
		}
		for asks, function := range map[command.Asks]string{
			command.AsksYes:   "(simgraph/internal/command.Consent).agreed",
			command.AsksForce: "(simgraph/internal/command.Overwriting).writeTo",
		} {
			says := slices.ContainsFunc(deletions, func(d command.Deletion) bool { return d.Asks == asks })
			if does := ways.functions[function]; says != does {
				t.Errorf("%s says that it %s: %v; it runs %s: %v", name, asks, says, function, does)
			}
		}
	}
	if deleting < 10 {
		t.Errorf("only %d commands were found that can delete", deleting)
	}
}

func runOf(sources *references, of reflect.Type) string {
	plain := of.PkgPath() + "." + of.Name()
	for _, name := range []string{"(*" + plain + ").Run", "(" + plain + ").Run"} {
		if sources.functions[name] != nil {
			return name
		}
	}
	return ""
}

var (
	speaksOfDeleting = regexp.MustCompile(`(?i)\b(?:kept|keeps|drops?|dropped|deletes?d?|removes?d?|replaces?d?|undo|overwritten)\b`)
	namesFlags       = regexp.MustCompile("`--[a-z-]+")
)

// notOfData are the flags of which the help speaks of what goes, but not of data.
var notOfData = map[string]string{"radius-waiting": "a packet that is dropped is sent again"}

// A flag of which the help speaks of what goes is in the table.
func TestFlagsThatDeleteAreInTheTable(t *testing.T) {
	t.Parallel()
	for _, node := range commands(t) {
		var said strings.Builder
		for _, d := range deletionsOf(node) {
			fmt.Fprintln(&said, d.What, d.Asks, d.Back)
		}
		named := namesFlags.FindAllString(said.String(), -1)
		known := map[string]bool{}
		for _, flags := range node.AllFlags(false) {
			for _, f := range flags {
				known["`--"+f.Name] = true
			}
		}
		for _, f := range node.Flags {
			if speaksOfDeleting.MatchString(f.Help) && !slices.Contains(named, "`--"+f.Name) && notOfData[f.Name] == "" {
				t.Errorf("--%s of %s is not in the table: %s", f.Name, nameOf(node), f.Help)
			}
		}
		for _, flag := range named {
			if !known[flag] {
				t.Errorf("%s has no flag %s, which the table names", nameOf(node), flag)
			}
		}
	}
}
