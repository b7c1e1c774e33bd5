package main

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"simgraph/internal/fatal"
)

func newModel(t *testing.T) *kong.Kong {
	t.Helper()
	p, err := newParser(&commandLine{}, io.Discard, io.Discard, func(int) {})
	fatal.If(t, err)
	return p
}

// numbers are the flags of a command and those below it that hold numbers or
// durations.
func numbers(node *kong.Node) []*kong.Flag {
	var found []*kong.Flag
	for _, flag := range node.Flags {
		of := flag.Target.Type()
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() >= reflect.Int && of.Kind() <= reflect.Float64 {
			found = append(found, flag)
		}
	}
	for _, child := range node.Children {
		found = append(found, numbers(child)...)
	}
	return found
}

func TestEveryNumberHasARange(t *testing.T) {
	t.Parallel()
	flags := numbers(newModel(t).Model.Node)
	if len(flags) < 30 {
		t.Fatalf("only %d flags hold numbers", len(flags))
	}
	for _, flag := range flags {
		if least, _, bounded := strings.Cut(flag.Tag.Get("range"), ".."); !bounded || least == "" {
			t.Errorf("--%s has no range", flag.Name)
		}
	}
}

// Each command is parsed, with flags that may be given several times too.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	var visit func(node *kong.Node, path []string)
	visit = func(node *kong.Node, path []string) {
		for _, child := range node.Children {
			visit(child, append(slices.Clone(path), child.Name))
		}
		var help bytes.Buffer
		p, err := newParser(&commandLine{}, &help, io.Discard, func(int) {})
		fatal.If(t, err)
		_, _ = p.Parse(append([]string{"--help"}, path...)) // arguments may be missing
		if !strings.Contains(help.String(), "Usage: ") {
			t.Errorf("%v: %q", path, help.String())
		}
	}
	visit(newModel(t).Model.Node, nil)
}

func TestEachNumberOfAFlagHasTheRange(t *testing.T) {
	t.Parallel()
	for groups, accepted := range map[string]bool{"--group=1": true, "--group=1,2147483647": true, "--group=1,0": false, "--group=0": false} {
		_, err := newModel(t).Parse([]string{"user", "create", "a@b.example", groups})
		if (err == nil) != accepted {
			t.Errorf("%s: %v", groups, err)
		}
	}
}

func TestANumberOutsideItsRangeIsRefused(t *testing.T) {
	t.Parallel()
	refused := func(flag, value string, args ...string) {
		t.Helper()
		_, err := newModel(t).Parse(append(args, "--"+flag+"="+value))
		if err == nil || !strings.Contains(err.Error(), "--"+flag) {
			t.Errorf("--%s=%s: %v", flag, value, err)
		}
	}
	for _, command := range newModel(t).Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range append(numbers(command), numbers(newModel(t).Model.Node)[:2]...) {
			low, high := "-1", "1e300"
			if flag.Target.Type() == reflect.TypeFor[time.Duration]() {
				low, high = "-1s", "2000000h"
			}
			refused(flag.Name, low, "serve")
			refused(flag.Name, high, "serve")
			if flag.Target.CanFloat() {
				refused(flag.Name, "NaN", "serve")
				refused(flag.Name, "+Inf", "serve")
			}
		}
	}
	refused("max-conns", "0", "serve")
	refused("max-conns", "-3", "token", "--user", "ops@acme.example")
	refused("ttl", "-1s", "token", "--user", "ops@acme.example")
	refused("ttl", "0s", "key", "create", "--user", "ops@acme.example")
	refused("days", "-1", "demo")
	refused("subscribers", "10000001", "demo")
	refused("after", "-1", "audit", "export")
}

func TestFlagsThatDoNotGoTogetherAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"serve", "--request-timeout", "10s"},
		{"--request-timeout", "10s"},
		{"serve", "--statement-timeout", "0"},
		{"serve", "--oidc-only"},
		{"serve", "--oidc-config", "providers.json"},
		{"serve", "--database-replica-url", "postgres://standby.example"},
	} {
		if _, err := newModel(t).Parse(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if _, err := newModel(t).Parse([]string{"serve", "--statement-timeout", "0", "--request-timeout", "0"}); err != nil {
		t.Error(err)
	}
}
