package command

import (
	"context"
	"errors"
	"fmt"

	"simgraph/db/embedded"
)

// errAbandoned ends a start of the server on the database of a command that was
// killed meanwhile.
var errAbandoned = errors.New("the simgraph command that ran the database was killed")

// attached is the database of the server; embedded is nil where one was named.
type attached struct {
	url      string
	embedded *embedded.Server
	env      *Env
}

// database starts the embedded server, or shares it with a command, unless another
// one was named. When it ends by itself, stop gets the reason.
func (e *Env) database(ctx context.Context, stop context.CancelCauseFunc) (*attached, error) {
	if e.DatabaseURL != "" {
		return &attached{url: e.DatabaseURL}, nil
	}
	server, err := embedded.Start(ctx, embedded.Config{Dir: e.DataDir, Log: e.Log, Purpose: "serve"})
	if err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-server.Done():
			stop(fmt.Errorf("%w: %w", errDatabaseStopped, server.Err()))
		case <-ctx.Done():
		}
	}()
	return &attached{server.URL(), server, e}, nil
}

// takeOver lets the command end that runs the database, if one does.
func (a *attached) takeOver() {
	if a.embedded != nil {
		a.embedded.TakeOver()
	}
}

// close stops the embedded database or leaves it to the command that runs it. It
// returns errAbandoned when err came from the death of that command.
func (a *attached) close(err error) error {
	if a.embedded == nil {
		return err
	}
	if err != nil && a.embedded.Abandoned() {
		err = fmt.Errorf("%w: %w", errAbandoned, err)
	}
	a.env.warn("stop the database", a.embedded.Close())
	return err
}
