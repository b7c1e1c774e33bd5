package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/embedded"
	"simgraph/db/feed"
	"simgraph/db/live"
	"simgraph/db/pg"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/webhook"
	"simgraph/internal/doctor"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// deployed is a deployment on the database, with room for its connections.
func deployed(t *testing.T, url string) *doctor.Deployment {
	t.Helper()
	dir := t.TempDir()
	return &doctor.Deployment{URL: url, DataDir: dir, KeyFile: filepath.Join(dir, "secrets.key"), Conns: 11, ServerSession: live.ServerSession}
}

// findings are those of one check.
func findings(t *testing.T, d *doctor.Deployment, check string) []doctor.Finding {
	t.Helper()
	found := slices.DeleteFunc(doctor.Examine(t.Context(), d), func(of doctor.Finding) bool { return of.Check != check })
	if len(found) == 0 {
		t.Fatalf("nothing is said of %s", check)
	}
	return found
}

// expect fails unless the check finds something of that state, which has the text, and
// says what to do unless all is well.
func expect(t *testing.T, d *doctor.Deployment, check string, state doctor.State, text string) {
	t.Helper()
	found := findings(t, d, check)
	if !slices.ContainsFunc(found, func(of doctor.Finding) bool {
		return of.State == state && strings.Contains(of.Found, text) && (of.Do != "") == (state != doctor.OK)
	}) {
		t.Errorf("%s: nothing that is %s has %q: %+v", check, state, text, found)
	}
}

// server starts a PostgreSQL of the test's own with a database that is migrated.
func server(t *testing.T, dir string, settings map[string]string) (*embedded.Server, string) {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Settings: settings, Purpose: "test"})
	fatal.If(t, err)
	t.Cleanup(func() { _ = s.Close() })
	pool := open(t, s.URL())
	fatal.If(t, db.Migrate(t.Context(), pool))
	return s, s.URL()
}

// place is where a server makes its directory.
func place(t *testing.T) string {
	t.Helper()
	return dbtest.Dir(t, "") + "/data"
}

func open(t *testing.T, address string) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// with returns the address with other parts.
func with(t *testing.T, address string, change func(*url.URL)) string {
	t.Helper()
	at, err := url.Parse(address)
	fatal.If(t, err)
	change(at)
	return at.String()
}

func TestNothingIsWrongWithAServerAsItIsMade(t *testing.T) {
	t.Parallel()
	_, address := server(t, place(t), nil)
	for _, of := range doctor.Examine(t.Context(), deployed(t, address)) {
		if of.Check != "disk" && (of.State != doctor.OK || of.Do != "") { // of the machine that runs the test
			t.Errorf("%+v", of)
		}
	}
}

func TestNothingIsMadeWhereThereIsNoDatabaseYet(t *testing.T) {
	t.Parallel()
	d := deployed(t, "")
	d.DataDir = filepath.Join(d.DataDir, "not", "there")
	expect(t, d, "database", doctor.OK, "none")
	if _, err := os.Stat(d.DataDir); !os.IsNotExist(err) {
		t.Error("the doctor makes a data directory")
	}
}

func TestTheEmbeddedDatabaseIsExaminedInItsDirectory(t *testing.T) {
	t.Parallel()
	dir := place(t)
	s, _ := server(t, dir, nil)
	fatal.If(t, s.Close())
	d := deployed(t, "")
	d.DataDir = dir
	d.Attach = func(ctx context.Context) (string, func(), error) {
		s, err := embedded.Attach(ctx, embedded.Config{Dir: dir, Purpose: "doctor"})
		if err != nil {
			return "", nil, err
		}
		return s.URL(), func() { _ = s.Close() }, nil
	}
	expect(t, d, "schema", doctor.OK, "")
}

func TestAnAddressThatIsNoneOfPostgreSQL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"mysql://root:s3cret@db:3306/x", "db.example/s3cret", "postgres://u:s3cret@host:port/x", "host=x sslmode=perhaps password=s3cret"} {
		d := deployed(t, address)
		expect(t, d, "address", doctor.Wrong, "--database-url: the database address: ")
		if found := findings(t, d, "address"); strings.Contains(fmt.Sprint(found), "s3cret") {
			t.Errorf("the password is in %+v", found)
		}
	}
	d := deployed(t, dbtest.URL(t))
	d.Standbys = []string{"mysql://db"}
	expect(t, d, "address", doctor.Wrong, "--database-replica-url: ")
}

func TestADatabaseThatCannotBeReached(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	for address, say := range map[string]string{
		"postgres://u@127.0.0.1:1/x":                                                                 "refused",
		"postgres://u@no.such.invalid/x":                                                             "no.such.invalid",
		"postgres:///x?host=/no/directory":                                                           "no such file",
		with(t, address, func(u *url.URL) { u.Path = "/missing" }):                                   "does not exist",
		with(t, address, func(u *url.URL) { u.User = url.UserPassword("nobody", "wrong") }):          "nobody",
		with(t, address, func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "wrong") }): "password",
	} {
		expect(t, deployed(t, address), "database", doctor.Wrong, say)
	}
}

func TestADatabaseThatSimgraphCannotUse(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	admin := open(t, address)
	for name, sql := range map[string]string{"ascii": "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0", "other": "TEMPLATE template0"} {
		name = fmt.Sprintf("doctor_%s_%d", name, os.Getpid())
		admin.MustExecContext(t.Context(), "CREATE DATABASE "+name+" "+sql)
		t.Cleanup(func() { _, _ = admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)") })
		address := with(t, address, func(u *url.URL) { u.Path = "/" + name })
		if strings.HasPrefix(name, "doctor_ascii") {
			expect(t, deployed(t, address), "contents", doctor.Wrong, "SQL_ASCII, and simgraph needs UTF8")
			continue
		}
		expect(t, deployed(t, address), "schema", doctor.Warning, "pending")
		pool := open(t, address)
		pool.MustExecContext(t.Context(), "CREATE TABLE shop (id int)")
		expect(t, deployed(t, address), "contents", doctor.Wrong, "shop")
		var made bool
		if err := pool.GetContext(t.Context(), &made, "SELECT to_regclass('goose_db_version') IS NOT NULL"); err != nil || made {
			t.Errorf("the doctor makes a table: %v, %v", made, err)
		}
	}
}

func TestASchemaOfANewerVersion(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	open(t, address).MustExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	expect(t, deployed(t, address), "schema", doctor.Warning, "1 migrations are of a newer simgraph")
}

func TestTooFewConnections(t *testing.T) {
	t.Parallel()
	_, address := server(t, place(t), map[string]string{"max_connections": "20"})
	d := deployed(t, address)
	expect(t, d, "connections", doctor.OK, "of 17")
	d.Conns = 18
	expect(t, d, "connections", doctor.Wrong, "of 17")
	d.Conns = 11
	for range 18 { // what is reserved for superuser roles, as this one, included
		conn, err := open(t, address).Connx(t.Context())
		fatal.If(t, err)
		t.Cleanup(func() { _ = conn.Close() })
	}
	expect(t, d, "database", doctor.Wrong, "too many clients")
}

func TestTablesThatAreNotVacuumed(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t) // of a server without autovacuum
	dbtest.WithoutCitus(t, "the settings of the server")
	expect(t, deployed(t, address), "vacuum", doctor.Wrong, "autovacuum is off")
	pool := open(t, address)
	pool.MustExecContext(t.Context(), "CREATE TABLE bloated AS SELECT generate_series(1, 40000)")
	pool.MustExecContext(t.Context(), "CREATE TABLE tidy AS SELECT generate_series(1, 40000)")
	for _, sql := range []string{"DELETE FROM bloated", "DELETE FROM tidy"} {
		pool.MustExecContext(t.Context(), sql)
	}
	dbtest.VacuumAnalyze(t, pool, "tidy")
	d := deployed(t, address)
	awaited := func() bool {
		return slices.ContainsFunc(findings(t, d, "vacuum"), func(of doctor.Finding) bool { return strings.Contains(of.Found, "bloated") })
	}
	for try := 0; try < 100 && !awaited(); try++ {
		time.Sleep(100 * time.Millisecond) // until the server has counted
	}
	expect(t, d, "vacuum", doctor.Wrong, "the table bloated has 40000 dead rows beside 0 live ones and was vacuumed never")
	for _, of := range findings(t, d, "vacuum") {
		if strings.Contains(of.Found, "tidy") {
			t.Errorf("%+v", of)
		}
	}
}

func TestTransactionsThatAreNotFrozen(t *testing.T) {
	t.Parallel()
	dir := place(t)
	// Tables that are older than that are frozen in the background, also without autovacuum.
	settings := map[string]string{"autovacuum": "off", "autovacuum_freeze_max_age": "2000000000"}
	s, address := server(t, dir, settings)
	expect(t, deployed(t, address), "wraparound", doctor.OK, "")
	fatal.If(t, s.Close())
	advance(t, dir+"/postgres", 700_000_000)
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Settings: settings, Purpose: "test"})
	fatal.If(t, err)
	t.Cleanup(func() { _ = s.Close() })
	expect(t, deployed(t, s.URL()), "wraparound", doctor.Warning, "699 million")
}

// advance gives a cluster that is stopped a later next transaction.
func advance(t *testing.T, cluster string, next int) {
	t.Helper()
	text, err := exec.Command("pg_config", "--bindir").Output()
	program := filepath.Join(strings.TrimSpace(string(text)), "pg_resetwal")
	if _, missing := os.Stat(program); err != nil || missing != nil {
		t.Skip("there is no pg_resetwal, which moves the number of transactions on")
	}
	info, err := os.Stat(cluster)
	fatal.If(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	const perSegment = 32 * 4 * 8192 // the states of so many transactions are in one file
	segment := filepath.Join(cluster, "pg_xact", fmt.Sprintf("%04X", next/perSegment))
	fatal.If(t, os.WriteFile(segment, make([]byte, 32*8192), 0o600))
	fatal.If(t, os.Chown(segment, int(owner.Uid), int(owner.Gid)))
	cmd := exec.Command(program, "--next-transaction-id", strconv.Itoa(next), cluster)
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestSourcesThatAreBehind(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	pool := open(t, address)
	scope := company(t, pool)
	for source, age := range map[string]string{"now": "1 minute", "late": "7 hours", "gone": "3 days", "given up": "90 days"} {
		pool.MustExecContext(t.Context(), "INSERT INTO usage_sources (company_id, source, complete_until) VALUES ($1, $2, now() - $3::interval)", scope.Company, source, age)
	}
	d := deployed(t, address)
	expect(t, d, "sources", doctor.Warning, `"late"`)
	expect(t, d, "sources", doctor.Wrong, `"gone" of "acme"`)
	if n := len(findings(t, d, "sources")); n != 2 {
		t.Errorf("%d sources are reported", n)
	}
}

// company makes one.
func company(t *testing.T, pool *sqlx.DB) domain.Scope {
	t.Helper()
	acme := &domain.Company{ExternalID: "acme", Name: "Acme", BillingDay: 1, TimeZone: "UTC"}
	if answers, err := bundle.NewImporter(pool).Companies(t.Context(), nil, []*domain.Company{acme}); err != nil || answers[0].Err != nil {
		t.Fatal(err, answers)
	}
	found, err := companies.New(pool).FindExternal(t.Context(), "acme")
	fatal.If(t, err)
	return domain.Whole(found.CompanyID)
}

func TestAKeyThatFitsNoSecret(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	pool := open(t, address)
	scope := company(t, pool)
	d := deployed(t, address)
	expect(t, d, "secrets", doctor.OK, "nothing is sealed yet")
	key := make(seal.Key, seal.KeySize)
	_, _ = rand.Read(key) // never fails
	store := hooks.New(pool, hooks.Options{Now: time.Now, Key: func() (seal.Key, error) { return key, nil }})
	if _, _, err := store.Create(t.Context(), scope, webhook.Spec{Name: "pager", URL: "https://example.com/hook", Format: webhook.CloudEvents, Filter: webhook.Filter{EventTypes: []webhook.EventType{webhook.AlertFired}}}); err != nil {
		t.Fatal(err)
	}
	client := domain.RADIUSClient{Name: "pgw", Secret: []byte("a secret of some length")}
	fatal.If(t, client.Network.UnmarshalText([]byte("10.0.0.0/8")))
	fatal.If(t, feed.NewClients(pool, key).Create(t.Context(), scope, client))
	expect(t, d, "secrets", doctor.Wrong, "is missing, and 1 webhooks and 1 RADIUS clients are sealed")
	writeKey(t, d.KeyFile, key)
	expect(t, d, "secrets", doctor.OK, "opens 1 webhooks and 1 RADIUS clients")
	key = slices.Clone(key)
	key[0]++
	writeKey(t, d.KeyFile, key)
	expect(t, d, "secrets", doctor.Wrong, `opens 0 of 1 webhooks and 0 of 1 RADIUS clients, and not "pager", "pgw"`)
	writeKey(t, d.KeyFile, []byte("short"))
	expect(t, d, "secrets", doctor.Wrong, "does not hold a key")
}

func writeKey(t *testing.T, path string, key []byte) {
	t.Helper()
	fatal.If(t, os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(key)), 0o600))
}

func TestASessionOverANetworkWithoutTLS(t *testing.T) {
	t.Parallel()
	host := address(t)
	dir := place(t)
	_, local := server(t, dir, map[string]string{"listen_addresses": host})
	expect(t, deployed(t, local), "tls", doctor.OK, "")
	hba := filepath.Join(dir, "postgres", "pg_hba.conf")
	text, err := os.ReadFile(hba)
	fatal.If(t, err)
	remote := with(t, local, func(u *url.URL) { u.Host, u.RawQuery = net.JoinHostPort(host, "5432"), "sslmode=disable" })
	expect(t, deployed(t, remote), "database", doctor.Wrong, "pg_hba.conf")
	fatal.If(t, os.WriteFile(hba, append(text, "\nhost all all 0.0.0.0/0 scram-sha-256\n"...), 0o600))
	open(t, local).MustExecContext(t.Context(), "SELECT pg_reload_conf()")
	for try := 0; try < 100 && findings(t, deployed(t, remote), "database")[0].State != doctor.OK; try++ {
		time.Sleep(50 * time.Millisecond) // until the server has read it
	}
	expect(t, deployed(t, remote), "tls", doctor.Wrong, "not encrypted")
	required := with(t, remote, func(u *url.URL) { u.RawQuery = "sslmode=require" })
	expect(t, deployed(t, required), "database", doctor.Wrong, "SSL is not enabled")
}

// address is one of this machine that is no loopback.
func address(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	fatal.If(t, err)
	for _, one := range all {
		if ip, is := one.(*net.IPNet); is && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has no address but the loopback")
	return ""
}

func TestAClockThatIsWrong(t *testing.T) {
	library, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(library) == 0 {
		t.Skip("libfaketime is not installed: apt-get install libfaketime")
	}
	t.Setenv("LD_PRELOAD", library[0])
	t.Setenv("FAKETIME", "+45s")
	t.Setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
	s, address := server(t, place(t), nil)
	expect(t, deployed(t, address), "clock", doctor.Wrong, "45")
	t.Setenv("LD_PRELOAD", "")
	_ = s.Close()
}

func TestADiskThatIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=300m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	d := deployed(t, "mysql://")
	d.DataDir = filepath.Join(dir, "data")
	expect(t, d, "disk", doctor.OK, "300")
	fatal.If(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 220<<20), 0o600))
	expect(t, d, "disk", doctor.Wrong, "80 of 300 MiB")
}

func TestACertificateThatEnds(t *testing.T) {
	t.Parallel()
	d := deployed(t, "mysql://")
	d.Certificate, d.CertificateKey = filepath.Join(d.DataDir, "cert.pem"), filepath.Join(d.DataDir, "key.pem")
	expect(t, d, "certificate", doctor.Wrong, "no such file")
	now := time.Now()
	for _, of := range []struct {
		from, until time.Duration
		state       doctor.State
	}{{-time.Hour, 60 * 24 * time.Hour, doctor.OK}, {-time.Hour, 24 * time.Hour, doctor.Warning}, {-2 * time.Hour, -time.Hour, doctor.Wrong}, {time.Hour, 2 * time.Hour, doctor.Wrong}} {
		certificate(t, d, now.Add(of.from), now.Add(of.until))
		expect(t, d, "certificate", of.state, "at 20")
	}
}

func certificate(t *testing.T, d *doctor.Deployment, from, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal.If(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, DNSNames: []string{"sim.example"}}
	text, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	fatal.If(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	fatal.If(t, err)
	for path, block := range map[string]*pem.Block{d.Certificate: {Type: "CERTIFICATE", Bytes: text}, d.CertificateKey: {Type: "PRIVATE KEY", Bytes: secret}} {
		fatal.If(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
}

func TestAStandbyThatIsNone(t *testing.T) {
	t.Parallel()
	d := deployed(t, dbtest.URL(t))
	d.Standbys = []string{d.URL, "postgres://u@127.0.0.1:1/x"}
	expect(t, d, "standbys", doctor.Wrong, "no standby")
	expect(t, d, "standbys", doctor.Wrong, "connection refused")
}

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	known := []string{"SIMGRAPH_DATABASE_URL", "DATABASE_URL", "SIMGRAPH_SMTP_URL", "SIMGRAPH_ALL", "SIMGRAPH_DEMO"}
	environ := []string{
		"PATH=/bin", "DATABASE_URL=x", "SIMGRAPH_DATABASE_URL=x", "SIMGRAPH_DATABSE_URL=x", "SIMGRPAH_DATABASE_URL=x", "SIMGRAPH_SMPT_URL=x", "SIMGRAPH_URL=x", "SIMGRAPH_NEW=x",
		"SIMGRAPH_SERVICE_HOST=10.0.0.1", "SIMGRAPH_PORT=tcp://10.0.0.1:80", "SIMGRAPH_PORT_80_TCP_ADDR=10.0.0.1", "SIMGRAPH_ADMIN_SERVICE_PORT_HTTP=80",
	}
	var found []string
	for _, one := range doctor.Unknown(environ, known) {
		found = append(found, one.Name+" "+one.Meant)
	}
	want := []string{"SIMGRAPH_DATABSE_URL SIMGRAPH_DATABASE_URL", "SIMGRAPH_NEW ", "SIMGRAPH_SMPT_URL SIMGRAPH_SMTP_URL", "SIMGRAPH_URL ", "SIMGRPAH_DATABASE_URL SIMGRAPH_DATABASE_URL"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, not %q", found, want)
	}
}
