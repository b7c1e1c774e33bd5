package command

import (
	"context"
	"net/url"
	"os"
	"os/exec"

	"github.com/jmoiron/sqlx"

	"simgraph/db/embedded"
	"simgraph/db/pg"
)

// client runs the client programs of PostgreSQL on the database.
type client struct {
	// url is without the password, which the list of processes would show.
	url, password string
	// major is the version of the server.
	major int
}

// withClient attaches to the database as it is, without migrating it.
func withClient(ctx context.Context, env *Env, command string, do func(*client, *sqlx.DB) error) error {
	address, stop, err := env.address(ctx, command)
	if err != nil {
		return err
	}
	defer stop()
	pool, err := pg.Open(ctx, address, pg.Options{MaxConns: 1})
	if err != nil {
		return err
	}
	defer func() { env.warn("close the database", pool.Close()) }()
	c := newClient(address)
	if err := pool.GetContext(ctx, &c.major, "SELECT current_setting('server_version_num')::int / 10000"); err != nil {
		return err
	}
	return do(c, pool)
}

// newClient takes the password out of an address. One that is no URL, but a list of
// settings, stays as it is.
func newClient(address string) *client {
	if spread, err := pg.Spread(address); err == nil {
		address = spread
	}
	at, err := url.Parse(address)
	if err != nil || at.User == nil {
		return &client{url: address}
	}
	password, _ := at.User.Password()
	at.User = url.User(at.User.Username())
	return &client{url: at.String(), password: password}
}

func (c *client) command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	path, err := embedded.Program(ctx, program, c.major)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = os.Environ()
	if c.password != "" {
		cmd.Env = append(cmd.Env, "PGPASSWORD="+c.password)
	}
	return cmd, nil
}
