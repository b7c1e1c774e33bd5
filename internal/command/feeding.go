package command

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/feed"
	"simgraph/db/pg"
	"simgraph/internal/durable"
	"simgraph/internal/intake"
	"simgraph/internal/radius"
	"simgraph/internal/seal"
)

// Feeding are the flags of what network elements send.
type Feeding struct {
	RADIUSAddr      []string      `name:"radius-addr" placeholder:"ADDRESS" help:"Take RADIUS accounting at these UDP addresses or names of the host, such as 10.0.0.5:1813; 0.0.0.0 stands for all of IPv4, [::] for all. Off when missing."`
	RADIUSWaiting   int           `name:"radius-waiting" default:"8192" range:"1..1000000" help:"Most RADIUS requests that wait for the database, in 64 MB at most; more are dropped, and sent again."`
	RADIUSConns     int           `name:"radius-conns" default:"4" range:"1..1000" help:"Most connections to the database for RADIUS, beside those of --max-conns."`
	DropDir         string        `type:"path" placeholder:"DIR" help:"Take the files of sources from this folder: DIR/COMPANY/SOURCE, by the id of the company and the name of the source. Off when missing."`
	DropSettled     time.Duration `default:"10s" range:"1s..1h" help:"How long a file in that folder must stay as it is before it is taken: longer than the pauses of senders that write to its final name."`
	SessionInterval time.Duration `default:"15m" range:"10s..24h" help:"The longest interval of reports that is expected of a network element. A session that misses three intervals has ended."`
}

// Sealing are the flags of the key that secrets are sealed with.
type Sealing struct {
	SecretsKeyFile string `type:"path" placeholder:"FILE" help:"The key that secrets of RADIUS clients, webhooks, upstreams and sign-ins at providers are sealed with, in base64: 32 bytes. Made when missing; secrets.key in --data-dir by default. All instances on a database need the same."`
}

// key reads the key, or makes it.
func (s *Sealing) key(dataDir string) (seal.Key, error) {
	path := s.keyFile(dataDir)
	key, err := seal.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err == nil || errors.Is(err, fs.ErrExist) { // another process has made it
			key, err = seal.Read(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key of secrets: %w", err)
	}
	return key, nil
}

// keyFile is where the key is, or will be.
func (s *Sealing) keyFile(dataDir string) string {
	if s.SecretsKeyFile != "" {
		return s.SecretsKeyFile
	}
	return filepath.Join(dataDir, "secrets.key")
}

// makeKey writes a new key to a file that only the owner can read. The file appears
// with its content, so that another process reads all of it or none.
func makeKey(path string) error {
	key := make([]byte, seal.KeySize)
	_, _ = rand.Read(key) // never fails
	text := []byte(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.Create(path, func(file io.Writer) error {
		_, err := file.Write(text)
		return err
	})
}

// feed opens the listener for RADIUS, with connections of its own to the database:
// what senders send keeps no request waiting. Without --radius-addr it does nothing.
func (s *Serve) feed(ctx context.Context, env *Env, v *service, url string) error {
	addresses := s.RADIUSAddr
	if len(addresses) == 0 && s.feedsDemo() {
		addresses = []string{"127.0.0.1:0"}
	}
	if len(addresses) == 0 {
		return nil
	}
	key, err := s.key(env.DataDir)
	if err != nil {
		return err
	}
	if v.feedPool, err = pg.Open(ctx, url, pg.Options{
		MaxConns: s.RADIUSConns, Pooler: env.Pooler, StatementTimeout: env.Timeout, Trace: env.Trace,
	}); err != nil {
		return err
	}
	clients := feed.NewClients(v.feedPool, key)
	booked := newUsage(v.feedPool, env.Log)
	if s.feedsDemo() {
		v.demo = &demoFeed{v.feedPool, clients, booked, s.endpoints(v.feedPool, func() (seal.Key, error) { return key, nil })}
	}
	v.feed = feed.New(v.feedPool, booked, clients)
	v.radius, err = radius.Listen(ctx, addresses, radius.Config{Feed: v.feed, Log: env.Log, MaxWaiting: s.RADIUSWaiting})
	if err != nil {
		return errors.Join(err, v.feedPool.Close())
	}
	v.telemetry.watchFeed(v.feedPool)
	measure := v.telemetry.Metrics.ObserveRADIUS(radius.Results, radius.Stored, v.radius.Drops)
	v.radius.Observe = func(result string, took time.Duration) {
		v.pace.Use()
		if measure != nil {
			measure(result, took)
		}
	}
	for _, address := range v.radius.Addrs() {
		env.Log.Info("RADIUS accounting is taken", "address", address.String())
	}
	return nil
}

// watchFolder returns what takes the files of --drop-dir; nil without one.
func (s *Serve) watchFolder(v *service, pool *sqlx.DB) (*intake.Folder, error) {
	if s.DropDir == "" {
		return nil, nil
	}
	if about, err := os.Stat(s.DropDir); err != nil || !about.IsDir() {
		return nil, errors.Join(fmt.Errorf("--drop-dir %s must be a folder", s.DropDir), err)
	}
	return &intake.Folder{
		Intake: v.intake, Dir: s.DropDir, Settled: s.DropSettled, Company: companies.New(pool).FindExternal, Log: v.log,
		Observe: func(r intake.FileResult) { v.telemetry.Metrics.Filed(string(r)) },
	}, nil
}

// takeFiles looks for files until ctx ends.
func (v *service) takeFiles(ctx context.Context) error {
	if v.folder == nil {
		<-ctx.Done()
		return nil
	}
	return every(max(v.folder.Settled/2, filesEvery), v.folder.Look)(ctx)
}

// closeFeed closes what feed has opened.
func (v *service) closeFeed(env *Env) {
	if v.radius == nil {
		return
	}
	_ = v.radius.Close() // Run may have closed it
	env.warn("close the database", v.feedPool.Close())
}

// listen runs the listener until ctx ends, and stores then what it has counted.
func (v *service) listen(ctx context.Context) error {
	if v.radius == nil {
		<-ctx.Done()
		return nil
	}
	err := v.radius.Run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	return errors.Join(err, v.feed.Flush(last))
}

// tallyFeed stores how many packets came from which network elements, and how often
// they report.
func (v *service) tallyFeed(ctx context.Context) error {
	err := v.usage.FlushGaps(ctx)
	if v.feed != nil {
		err = errors.Join(err, v.feed.Flush(ctx))
	}
	return err
}

// endSilent ends the sessions that network elements do not report any more. That they
// are listened to is recorded first: the time without a listener does not count.
func (v *service) endSilent(ctx context.Context) error {
	if v.feed != nil {
		if err := v.feed.Listen(ctx); err != nil {
			return err
		}
	}
	return v.upkeep.EndSilent(ctx, v.sessionInterval)
}
