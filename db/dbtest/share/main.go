// Command share runs a command, as go test ./..., whose test binaries share one PostgreSQL
// server: share go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"simgraph/db"
	"simgraph/db/dbtest"
)

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit status of the command.
func run(command []string) int {
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "usage: share COMMAND...")
		return 2
	}
	// The command gets the signals of a terminal as well, and the server stays until it ends.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM)
	stop, err := dbtest.Share(context.Background(), db.Migrate)
	if err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
		return 1
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if failed := stop(); failed != nil {
		fmt.Fprintln(os.Stderr, "share:", failed)
	}
	exit := &exec.ExitError{}
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "share:", err)
		return 1
	}
	return 0
}
