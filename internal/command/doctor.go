package command

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"simgraph/db/live"
	"simgraph/internal/doctor"
)

// Doctor looks for what is wrong.
type Doctor struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`
	Sealing
}

// Help shows examples.
func (Doctor) Help() string {
	return `Examples:

	simgraph doctor
	set -a; . /etc/simgraph/environment; simgraph doctor --json

It reads the settings of serve from the environment, as the server does, and
changes nothing. The exit status is 1 when something is wrong.`
}

// Run prints what was found, and returns an error when something is wrong.
func (d *Doctor) Run(ctx context.Context, env *Env) error {
	server, found := d.settings(env)
	found = append(found, doctor.Examine(ctx, d.deployment(env, server))...)
	counts := map[doctor.State]int{}
	for _, one := range found {
		counts[one.State]++
	}
	if err := d.print(env, found, counts[doctor.Wrong] == 0); err != nil {
		return err
	}
	if n := counts[doctor.Wrong]; n > 0 {
		return fmt.Errorf("%d of %d findings are wrong", n, len(found))
	}
	return nil
}

// settings reads those of the server, and returns what is wrong with them.
func (d *Doctor) settings(env *Env) (*Serve, []doctor.Finding) {
	var found []doctor.Finding
	for _, one := range env.Settings.Unknown {
		of := doctor.Finding{Check: "variables", State: doctor.Warning, Found: one.String(), Do: "remove it: nothing reads it; simgraph serve --help lists those that are"}
		if one.Meant != "" {
			of.State, of.Do = doctor.Wrong, "write "+one.Meant
		}
		found = append(found, of)
	}
	server, err := env.Settings.Server()
	if err != nil {
		found = append(found, doctor.Finding{Check: "settings", State: doctor.Wrong, Found: OneLine(err), Do: "correct the variable of that flag: simgraph serve would refuse it"})
	}
	if len(found) == 0 {
		found = append(found, doctor.Finding{Check: "settings", State: doctor.OK, Found: "each variable is one of simgraph, and has a value that serve takes"})
	}
	return server, found
}

// deployment is what is looked at: the database of this command line, and what the server
// has beside it.
func (d *Doctor) deployment(env *Env, server *Serve) *doctor.Deployment {
	of := &doctor.Deployment{
		URL: env.DatabaseURL, Direct: env.DirectURL, Pooler: env.Pooler, DataDir: env.DataDir,
		Standbys: server.DatabaseReplicaURL, Conns: sessionsBeside, ServerSession: live.ServerSession,
		KeyFile: d.keyFile(env.DataDir), Certificate: server.TLSCert, CertificateKey: server.TLSKey,
		Attach: func(ctx context.Context) (string, func(), error) { return env.address(ctx, "doctor") },
	}
	if !env.Pooler {
		of.Conns += env.MaxConns
	}
	if len(server.RADIUSAddr) > 0 {
		of.Conns += server.RADIUSConns
	}
	return of
}

// sessionsBeside are the connections that an instance has beside those of --max-conns:
// two for its upkeep, one to listen, and one for each export.
const sessionsBeside = 3 + allExports

func (d *Doctor) print(env *Env, found []doctor.Finding, ok bool) error {
	if d.JSON {
		out := json.NewEncoder(env.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(struct {
			OK       bool             `json:"ok"`
			Findings []doctor.Finding `json:"findings"`
		}{ok, found})
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, one := range found {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", one.State, one.Check, one.Found)
		if one.Do != "" {
			_, _ = fmt.Fprintf(table, "\t\t→ %s\n", one.Do)
		}
	}
	return table.Flush()
}
