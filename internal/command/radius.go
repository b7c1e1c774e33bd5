package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/netip"
	"os"
	"text/tabwriter"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/feed"
	"simgraph/domain"
)

// RADIUS groups the commands about RADIUS.
type RADIUS struct {
	Client RADIUSClient `cmd:"" help:"Work on what may send RADIUS accounting."`
}

// RADIUSClient groups the commands about clients.
type RADIUSClient struct {
	Add    RADIUSClientAdd    `cmd:"" help:"Let a network element send accounting, and print its secret where none is given."`
	List   RADIUSClientList   `cmd:"" help:"List the clients of a company."`
	Remove RADIUSClientRemove `cmd:"" help:"Remove a client; what it reported stays."`
}

// RADIUSClientAdd adds a client.
type RADIUSClientAdd struct {
	Name       string `arg:"" help:"The name of the client: the source of its usage."`
	Network    string `required:"" placeholder:"CIDR" help:"The addresses that it sends from, such as 10.1.0.0/16 or 10.1.0.5."`
	Company    string `placeholder:"ID" help:"The company; may be left out when there is only one."`
	SecretFile string `placeholder:"FILE" help:"The shared secret; - reads standard input. Made and printed when missing."`
	Sealing
}

// Help shows examples.
func (RADIUSClientAdd) Help() string {
	return `Examples:

	simgraph radius client add pgw-london --network 10.1.0.0/16 --company acme
	simgraph radius client add proxy --network 10.2.0.7 --secret-file - < secret.txt

A client of several companies is added for each, with the same network and secret: a
request belongs to the company that has the subscriber.`
}

// Run adds the client.
func (r *RADIUSClientAdd) Run(ctx context.Context, env *Env) error {
	network, err := parseNetwork(r.Network)
	if err != nil {
		return err
	}
	secret, err := r.secret(env.Stdin)
	if err != nil {
		return err
	}
	key, err := r.key(env.DataDir)
	if err != nil {
		return err
	}
	pool, company, done, err := openCompany(ctx, env, "radius client add", r.Company)
	if err != nil {
		return err
	}
	defer done()
	client := domain.RADIUSClient{Name: r.Name, Network: network, Secret: secret}
	if err := feed.NewClients(pool, key).Create(ctx, domain.Whole(company.CompanyID).By(actor("radius client add")), client); err != nil {
		return err
	}
	if r.SecretFile == "" {
		env.printf("%s\n", secret)
	}
	return nil
}

// secret reads the secret without the end of its line, or makes one.
func (r *RADIUSClientAdd) secret(stdin io.Reader) (secret []byte, err error) {
	switch r.SecretFile {
	case "":
		return []byte(rand.Text()), nil
	case "-":
		secret, err = io.ReadAll(io.LimitReader(stdin, 2*domain.MaxRADIUSSecret))
	default:
		secret, err = os.ReadFile(r.SecretFile)
	}
	return bytes.TrimRight(secret, "\r\n"), err
}

// parseNetwork reads a network, or a single address.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network != network.Masked() {
		return network, domain.Invalid("network", "a network is written as 10.1.0.0/16, not %q", text)
	}
	return network, nil
}

// openCompany attaches to the database for a command about one company.
func openCompany(ctx context.Context, env *Env, command, externalID string) (*sqlx.DB, *domain.Company, func(), error) {
	pool, done, err := env.Open(ctx, command)
	if err != nil {
		return nil, nil, nil, err
	}
	company, err := OneCompany(ctx, companies.New(pool), externalID)
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	return pool, company, done, nil
}

// RADIUSClientList lists clients.
type RADIUSClientList struct {
	Company string `placeholder:"ID" help:"The company; may be left out when there is only one."`
}

// Run lists the clients by name.
func (r *RADIUSClientList) Run(ctx context.Context, env *Env) error {
	pool, company, done, err := openCompany(ctx, env, "radius client list", r.Company)
	if err != nil {
		return err
	}
	defer done()
	clients, err := feed.NewClients(pool, nil).List(ctx, domain.Whole(company.CompanyID))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "CLIENT\tNETWORK\tCREATED")
	for _, client := range clients {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", client.Name, client.Network, day(client.CreatedAt))
	}
	return table.Flush()
}

// RADIUSClientRemove removes a client.
type RADIUSClientRemove struct {
	Name    string `arg:"" help:"The client."`
	Company string `placeholder:"ID" help:"The company; may be left out when there is only one."`
}

// Run removes the client.
func (r *RADIUSClientRemove) Run(ctx context.Context, env *Env) error {
	pool, company, done, err := openCompany(ctx, env, "radius client remove", r.Company)
	if err != nil {
		return err
	}
	defer done()
	if err := feed.NewClients(pool, nil).Remove(ctx, domain.Whole(company.CompanyID).By(actor("radius client remove")), r.Name); err != nil {
		return err
	}
	env.printf("removed %s of %s with its secret: what it sends is not answered any more, what it reported stays\n", r.Name, company.ExternalID)
	return nil
}
