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
	"strings"
	"time"

	"simgraph/db/feed"
	"simgraph/db/pg"
	"simgraph/internal/durable"
	"simgraph/internal/radius"
	"simgraph/internal/seal"
)

// Feeding are the flags of what network elements send.
type Feeding struct {
	RADIUSAddr      []string      `name:"radius-addr" placeholder:"ADDRESS" help:"Take RADIUS accounting at these UDP addresses or names of the host, such as 10.0.0.5:1813; 0.0.0.0 stands for all of IPv4, [::] for all. Off when missing."`
	RADIUSWaiting   int           `name:"radius-waiting" default:"8192" range:"1..1000000" help:"Most RADIUS requests that wait for the database, in 64 MB at most; more are dropped, and sent again."`
	RADIUSConns     int           `name:"radius-conns" default:"4" range:"1..1000" help:"Most connections to the database for RADIUS, beside those of --max-conns."`
	SessionInterval time.Duration `default:"15m" range:"10s..24h" help:"The longest interval of reports that is expected of a network element. A session that misses three intervals has ended."`
}

// Sealing are the flags of the key that secrets are sealed with.
type Sealing struct {
	SecretsKeyFile string `type:"path" placeholder:"FILE" help:"The key that secrets of RADIUS clients, webhooks and sign-ins at providers are sealed with, in base64: 32 bytes. Made when missing; secrets.key in --data-dir by default. All instances on a database need the same."`
}

// key reads the key, or makes it.
func (s *Sealing) key(dataDir string) (seal.Key, error) {
	path := s.SecretsKeyFile
	if path == "" {
		path = filepath.Join(dataDir, "secrets.key")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = makeKey(path); errors.Is(err, fs.ErrExist) {
			text, err = os.ReadFile(path) //nolint:gosec // another process has made it
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key of secrets: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != seal.KeySize {
		return nil, fmt.Errorf("%s does not hold a key of %d bytes in base64", path, seal.KeySize)
	}
	return key, nil
}

// makeKey writes a new key to a file that only the owner can read. The file appears
// with its content, so that another process reads all of it or none.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, seal.KeySize)
	_, _ = rand.Read(key) // never fails
	text := []byte(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return text, durable.Create(path, func(file io.Writer) error {
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
		v.demo = &demoFeed{v.feedPool, clients, booked}
	}
	v.feed = feed.New(v.feedPool, booked, clients)
	v.radius, err = radius.Listen(ctx, addresses, radius.Config{Feed: v.feed, Log: env.Log, MaxWaiting: s.RADIUSWaiting})
	if err != nil {
		return errors.Join(err, v.feedPool.Close())
	}
	v.telemetry.watchFeed(v.feedPool)
	v.radius.Observe = v.telemetry.Metrics.ObserveRADIUS(radius.Results, radius.Stored, v.radius.Drops)
	for _, address := range v.radius.Addrs() {
		env.Log.Info("RADIUS accounting is taken", "address", address.String())
	}
	return nil
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
