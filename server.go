// Command simgraph serves fleets of IoT subscribers as one graph, over GraphQL
// and over the documented REST paths.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"simgraph/db/embedded"
	"simgraph/internal/command"
	"simgraph/internal/doctor"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

// commandLine is what simgraph understands. Every flag can be set by the
// environment: --data-dir is SIMGRAPH_DATA_DIR.
type commandLine struct {
	command.Database
	// Without a variable: SIMGRAPH_VERSION is what scripts of a deployment call theirs.
	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version."`

	LogFormat string `enum:"text,json" default:"text" help:"How the log on standard error is written: text or json."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"The least important lines to log: debug, info, warn or error."`

	Serve     command.Serve     `cmd:"" default:"withargs" help:"Run the server (also without a command)."`
	Import    command.Import    `cmd:"" help:"Load bundles."`
	Move      command.Move      `cmd:"" help:"Take over the account of another server of the documented API."`
	Export    command.Export    `cmd:"" help:"Write a company as a bundle."`
	Demo      command.Demo      `cmd:"" help:"Make up a company."`
	Backup    command.Backup    `cmd:"" help:"Write the whole database into a file."`
	Restore   command.Restore   `cmd:"" help:"Restore a backup into an empty database, and verify it."`
	Psql      command.Psql      `cmd:"" passthrough:"" help:"Open PostgreSQL's shell on the database."`
	Company   command.Company   `cmd:"" help:"Work on companies."`
	User      command.User      `cmd:"" help:"Work on users."`
	Operator  command.Operator  `cmd:"" help:"Work on network operators."`
	Migrate   command.Migrate   `cmd:"" help:"Work on the schema of the database."`
	Key       command.Key       `cmd:"" help:"Work on access keys."`
	Documents command.Documents `cmd:"" help:"Work on trusted documents."`
	MCP       command.MCP       `cmd:"" name:"mcp" help:"Serve the tools of a server to a desktop client, over standard input and output."`
	Token     command.Token     `cmd:"" help:"Print an access token of a user."`
	LoginLink command.LoginLink `cmd:"" help:"Print a link that signs a user in to the page once."`
	Session   command.Session   `cmd:"" help:"Work on who is signed in to the page."`
	Recipient command.Recipient `cmd:"" help:"Work on the recipients of alert mail."`
	RADIUS    command.RADIUS    `cmd:"" name:"radius" help:"Work on the feed of network elements."`
	SQLRole   command.SQLRole   `cmd:"" name:"sql-role" help:"Work on logins of PostgreSQL for business tools."`
	Audit     command.Audit     `cmd:"" help:"Work on the log of who did what."`
	Ledger    command.Ledger    `cmd:"" help:"Work on the months of the usage ledger."`
	Retention command.Retention `cmd:"" help:"Work on how long data is kept that is deleted when it is old."`
	Rebuild   command.Rebuild   `cmd:"" help:"Recompute all totals from the usage ledger."`
	Schema    command.Schema    `cmd:"" help:"Print the schema of the graph, and what clients use of it."`
	Doctor    command.Doctor    `cmd:"" help:"Look for what is wrong with the database and the settings, and print what to do."`
	Version   command.Version   `cmd:"" help:"Print the version."`
}

// Validate is called by kong.
func (c *commandLine) Validate(line *kong.Context) error {
	if err := command.CheckRanges(line); err != nil || !serves(line) {
		return err
	}
	return c.Serve.Check(&c.Database)
}

func main() {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // before all else: it must never end a server
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go stopOnSignal(signals, stop)
	status := run(ctx, os.Args[1:], hangups, os.Stdin, os.Stdout, os.Stderr)
	stop(nil)
	os.Exit(status)
}

// stopOnSignal stops the program in order at the first signal; a second one ends
// it at once, as if signals were not handled.
func stopOnSignal(signals <-chan os.Signal, stop context.CancelCauseFunc) {
	first := <-signals
	stop(errors.New("signal " + unix.SignalName(first.(syscall.Signal))))
	second := <-signals
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(second) != nil {
		os.Exit(exitFailed)
	}
}

// endAtHangup gives SIGHUP its usual meaning for commands other than serve: it ends
// them, unless they were started by nohup.
func endAtHangup(hangups <-chan os.Signal) {
	signal.Reset(syscall.SIGHUP)
	select {
	case <-hangups: // it came before the command line was read
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Signal(syscall.SIGHUP)
		}
	default:
	}
}

// run is the program on given arguments and streams; it returns the exit status.
func run(ctx context.Context, args []string, hangups <-chan os.Signal, stdin io.Reader, stdout, stderr io.Writer) int {
	line := commandLine{}
	status := -1
	parser, err := newParser(&line, stdout, stderr, func(code int) { status = code })
	if err != nil {
		return fail(stderr, exitFailed, err)
	}
	settings := settings(parser)
	called, err := parser.Parse(args)
	if status >= 0 { // --help has been answered
		return status
	}
	if err != nil {
		return fail(stderr, exitUsage, err)
	}
	if !serves(called) {
		endAtHangup(hangups)
	}
	env := &command.Env{Database: line.Database, Stdin: stdin, Stdout: stdout, Stderr: stderr, Log: logger(&line, stderr), Hangups: hangups, Settings: settings}
	if err := checkVariables(called, env); err != nil {
		return fail(stderr, exitUsage, err)
	}
	called.BindTo(ctx, (*context.Context)(nil))
	if err := called.Run(env); err != nil {
		if ended, is := errors.AsType[*command.Ended](err); is {
			return ended.Status
		}
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return fail(stderr, exitFailed, err)
	}
	return 0
}

// settings are what the environment sets.
func settings(parser *kong.Kong) *command.Settings {
	return &command.Settings{Unknown: doctor.Unknown(os.Environ(), variables(parser)), Server: func() (*command.Serve, error) {
		var line commandLine
		parser, err := newParser(&line, io.Discard, io.Discard, func(int) {})
		if err == nil {
			_, err = parser.Parse([]string{"serve"})
		}
		return &line.Serve, err
	}}
}

// variables are the names of those that set the flags of all commands.
func variables(parser *kong.Kong) (names []string) {
	_ = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, is := node.(*kong.Flag); is {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	})
	return names
}

// checkVariables returns an error for a variable that is a misspelt setting, and warns of
// others that set nothing. The doctor reports them itself.
func checkVariables(called *kong.Context, env *command.Env) error {
	if called.Selected() != nil && called.Selected().Name == "doctor" {
		return nil
	}
	for _, one := range env.Settings.Unknown {
		if one.Meant != "" {
			return errors.New(one.String())
		}
		env.Log.Warn(one.String())
	}
	return nil
}

func newParser(line *commandLine, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(line,
		kong.Name("simgraph"),
		kong.Description("Fleets of IoT subscribers as one graph: GraphQL, and the documented REST paths."),
		kong.DefaultEnvars("SIMGRAPH"),
		kong.Vars{"dataDir": embedded.DefaultDir(), "version": "simgraph " + command.BuildVersion()},
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(command.FormatHelp),
		command.Durations(),
		kong.UsageOnError(),
	)
}

func serves(line *kong.Context) bool {
	return line.Selected() != nil && line.Selected().Name == "serve"
}

func fail(stderr io.Writer, status int, err error) int {
	_, _ = fmt.Fprintln(stderr, "simgraph: "+command.OneLine(err))
	return status
}

func logger(line *commandLine, to io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(line.LogLevel)) // kong has checked it
	options := &slog.HandlerOptions{Level: level}
	if line.LogFormat == "json" {
		options.ReplaceAttr = inSeconds
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// inSeconds writes durations with their unit in the name: {"duration":"1.5s"} as
// {"durationSeconds":1.5}.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"Seconds", a.Value.Duration().Seconds())
}
