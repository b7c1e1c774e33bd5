package main

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

func newModel(t *testing.T) *kong.Kong {
	t.Helper()
	p, err := newParser(&commandLine{}, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// numbers are the flags of a command and those below it that hold numbers or
// durations.
func numbers(node *kong.Node) []*kong.Flag {
	var found []*kong.Flag
	for _, flag := range node.Flags {
		if kind := flag.Target.Kind(); kind >= reflect.Int && kind <= reflect.Float64 {
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
