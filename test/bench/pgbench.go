package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// pgbench runs statements, prepared, without any server. Failures show that it
// is missing or refuses them.
func (b *bench) pgbench(ctx context.Context, name string, statements []statement, clients int) figures {
	folder, err := os.MkdirTemp("", "simgraph-pgbench-")
	if err != nil {
		return figures{Failures: 1}
	}
	defer func() { _ = os.RemoveAll(folder) }()
	script := filepath.Join(folder, "script")
	text, variables := preparedScript(statements)
	if os.WriteFile(script, []byte(text), 0o600) != nil {
		return figures{Failures: 1}
	}
	args := []string{"-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(2, clients)),
		"-T", strconv.Itoa(max(1, int(b.duration.Seconds()))), "-f", script}
	before := b.cpu.total()
	printed, err := exec.CommandContext(ctx, "pgbench", append(append(args, variables...), b.url)...).Output()
	if refused, is := errors.AsType[*exec.ExitError](err); is && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "pgbench refuses %s: %.300s\n", name, refused.Stderr)
	}
	if err != nil {
		return figures{Failures: 1}
	}
	time.Sleep(sessionsEnd)
	return b.pgbenchFigures(string(printed), before)
}

// sessionsEnd is what PostgreSQL may take to end the sessions of a client that
// is gone: while they end, /proc may count their time neither as theirs nor as
// that of ended children.
const sessionsEnd = 100 * time.Millisecond

// preparedScript writes statements for pgbench, and the flags of their parameters.
func preparedScript(statements []statement) (script string, variables []string) {
	var text strings.Builder
	for i, s := range statements {
		names := make([]string, len(s.Args))
		for n, value := range s.Args {
			if names[n] = "NULL"; parameter(value) != "" { // pgbench has neither NULL nor empty texts
				names[n] = fmt.Sprintf(":s%d_%d", i, n)
				variables = append(variables, "-D", names[n][1:]+"="+parameter(value))
			}
		}
		// Each use is a parameter of its own to pgbench, so a cast holds for all.
		casts := map[string]string{}
		for _, found := range cast.FindAllStringSubmatch(s.SQL, -1) {
			casts[found[1]] = found[2]
		}
		line := literal.ReplaceAllStringFunc(s.SQL, withoutColons)
		line = placeholder.ReplaceAllStringFunc(line, func(name string) string {
			n, _ := strconv.Atoi(name[1:])
			return names[n-1] + casts[name]
		})
		text.WriteString(strings.ReplaceAll(line, "\n", " ") + ";\n")
	}
	return text.String(), variables
}

var (
	literal      = regexp.MustCompile(`'[^']*'`)
	cast         = regexp.MustCompile(`(\$\d+)(::[a-z]+(?:\[\])?)`)
	placeholder  = regexp.MustCompile(`\$\d+`)
	transactions = regexp.MustCompile(`actually processed: (\d+)`)
	tps          = regexp.MustCompile(`tps = ([0-9.]+)`)
)

// withoutColons writes a literal otherwise: pgbench takes the minutes of
// 'HH24:MI' for a variable.
func withoutColons(literal string) string {
	if !strings.Contains(literal, ":") {
		return literal
	}
	return "E" + strings.NewReplacer(`\`, `\\`, ":", `\x3a`).Replace(literal)
}

func (b *bench) pgbenchFigures(printed string, before time.Duration) figures {
	number := func(of *regexp.Regexp) float64 {
		match := of.FindStringSubmatch(printed)
		if match == nil {
			return 0
		}
		n, _ := strconv.ParseFloat(match[1], 64)
		return n
	}
	return figures{PerSecond: number(tps), PostgreSQL: microseconds(b.cpu.total()-before) / max(1, number(transactions))}
}

// parameter is a value as PostgreSQL reads it.
func parameter(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case time.Time:
		return value.Format(time.RFC3339Nano)
	}
	return ""
}
