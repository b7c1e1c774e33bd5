package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/doctor"
	"simgraph/internal/fatal"
)

// program is the path of the built simgraph, once buildProgram has returned.
var program string

func TestMain(m *testing.M) {
	os.Exit(withFolder(func() int { return dbtest.Run(m, db.Migrate) }))
}

// withFolder runs the tests while there is a folder for the program.
func withFolder(run func() int) int {
	folder, err := os.MkdirTemp("", "simgraph-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil { // other users run it too
		panic(err)
	}
	program = filepath.Join(folder, "simgraph")
	return run()
}

var build = sync.OnceValue(func() error {
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// buildProgram builds the program for a test that runs it as a user would. With -short the test is
// skipped: make system runs it.
func buildProgram(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	fatal.If(t, build())
}

// instance is a running server.
type instance struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string
	base   string
	token  string
	stderr *transcript
	exited chan error
}

// transcript keeps what a running program writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (t *transcript) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(text)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

var (
	printedBase  = regexp.MustCompile(`http://[0-9.:]+`)
	printedToken = regexp.MustCompile(`Bearer (sgt_\S+?)'`)
)

// dataDir builds the program, and returns an empty directory for its data.
func dataDir(t *testing.T) string {
	t.Helper()
	buildProgram(t)
	return dbtest.Dir(t, "")
}

// demos are data directories of the demo company, each made for the first test that wants a
// copy, by the arguments of simgraph demo.
var demos sync.Map

// demoDir is a dataDir that has the demo company, which takes a copy where to make one takes
// seconds.
func demoDir(t *testing.T, args ...string) string {
	t.Helper()
	buildProgram(t)
	made, _ := demos.LoadOrStore(strings.Join(args, " "), sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(filepath.Dir(program), "demo-")
		if err != nil {
			return "", err
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			return "", err
		}
		if out, err := exec.Command(program, append([]string{"--data-dir", dir, "demo"}, args...)...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return dir, nil
	}))
	from, err := made.(func() (string, error))()
	fatal.If(t, err)
	dir := dataDir(t)
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// start serves the demo company and waits for the lines that report the addresses.
func start(t *testing.T, dir string, as *syscall.Credential, more ...string) *instance {
	t.Helper()
	s := &instance{t: t, dir: dir, stderr: &transcript{}, exited: make(chan error, 1)}
	flags := []string{"serve", "--demo", "--demo-feed", "off", "--addr", "127.0.0.1:0", "--data-dir", dir}
	s.cmd = exec.Command(program, append(flags, more...)...)
	s.cmd.Stderr = s.stderr
	s.cmd.Dir = filepath.Dir(program)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	stdout, err := s.cmd.StdoutPipe()
	fatal.If(t, err)
	fatal.If(t, s.cmd.Start())
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(stdout)
	for s.token == "" && lines.Scan() {
		if base := printedBase.FindString(lines.Text()); s.base == "" {
			s.base = base
		}
		if token := printedToken.FindStringSubmatch(lines.Text()); token != nil {
			s.token = token[1]
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		s.exited <- s.cmd.Wait()
	}()
	if s.token == "" {
		t.Fatalf("the server did not start: %s", <-s.failure())
	}
	return s
}

func (s *instance) failure() chan string {
	text := make(chan string, 1)
	<-s.exited
	text <- s.stderr.String()
	return text
}

func (s *instance) stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
	}
	s.awaitNoDatabase()
}

// end signals the server and returns its exit status.
func (s *instance) end(signal syscall.Signal) int {
	s.t.Helper()
	fatal.If(s.t, s.cmd.Process.Signal(signal))
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		s.t.Fatal("the server does not end")
	}
	return s.cmd.ProcessState.ExitCode()
}

// awaitNoDatabase fails when a PostgreSQL process outlives the server.
func (s *instance) awaitNoDatabase() {
	s.t.Helper()
	for range 600 {
		if len(postgresOn(s.dir)) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Errorf("still running: %v", postgresOn(s.dir))
}

// postgresOn lists the processes whose command line names the directory.
func postgresOn(dir string) []string {
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(dir+"/postgres")) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// get requests a path and decodes the answer.
func (s *instance) get(path, token string) (status int, body map[string]any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+path, nil)
	fatal.If(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	return s.send(r)
}

func (s *instance) post(path, contentType, token, text string) (status int, body map[string]any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+path, strings.NewReader(text))
	fatal.If(s.t, err)
	r.Header.Set("Content-Type", contentType)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return s.send(r)
}

func (s *instance) send(r *http.Request) (status int, body map[string]any) {
	s.t.Helper()
	response, err := http.DefaultClient.Do(r)
	fatal.If(s.t, err)
	defer response.Body.Close()
	fatal.If(s.t, json.NewDecoder(response.Body).Decode(&body))
	return response.StatusCode, body
}

// simgraph runs a command on the data directory.
func simgraph(t *testing.T, dir string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return simgraphWith(t, dir, nil, args...)
}

// simgraphWith is simgraph with more in the environment.
func simgraphWith(t *testing.T, dir string, environ []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	buildProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append([]string{"--data-dir", dir}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &errs, append(os.Environ(), environ...)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestANewcomerIsServedTheDemoByBothDoors(t *testing.T) {
	t.Parallel()
	s := start(t, dataDir(t), nil)
	status, page := s.get("/subscribers?limit=3", s.token)
	if content, _ := page["content"].([]any); status != http.StatusOK || len(content) != 3 {
		t.Fatalf("%d %v", status, page)
	}
	query, _ := json.Marshal(map[string]string{"query": `{company {name fleet {total}} subscribers(first: 3) {nodes {physicalId group {name} tags {name}}}}`})
	status, graph := s.post("/graphql", "application/json", s.token, string(query))
	if status != http.StatusOK || graph["errors"] != nil {
		t.Fatalf("%d %v", status, graph)
	}
	if status, body := s.get("/readyz", ""); status != http.StatusOK {
		t.Fatalf("%d %v", status, body)
	}
	if _, _, served := simgraph(t, s.dir, "token", "--user", "admin@demo.example"); !strings.Contains(served, s.dir) || strings.Contains(served, "no server") {
		t.Error(served)
	}
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Fatalf("exit status %d: %s", status, s.stderr)
	}
	s.awaitNoDatabase()
	if !regexp.MustCompile(`(?s)msg=ready address=\S+ .*msg="asked to stop" by="signal SIGTERM".*msg="requests have ended".*msg=stopped`).MatchString(s.stderr.String()) {
		t.Error(s.stderr)
	}
	if _, _, alone := simgraph(t, s.dir, "token", "--user", "admin@demo.example", "--ttl", "90d"); !strings.Contains(alone, `level=WARN msg="no server serves this database now"`) {
		t.Error(alone)
	}
}

func TestDurationsAreInSecondsInJSON(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	logger(&commandLine{LogFormat: "json", LogLevel: "info"}, &b).Info("x", "took", 1500*time.Millisecond, "n", 2)
	if !strings.HasSuffix(b.String(), `"msg":"x","tookSeconds":1.5,"n":2}`+"\n") {
		t.Error(b.String())
	}
}

// The demo company reports its sessions by RADIUS, to the server itself, from all its
// gateways, and has alerts on conditions and silences.
func TestTheDemoFeedsItself(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil, "--demo-feed", "on")
	query, _ := json.Marshal(map[string]string{"query": `{
	  company {feedElements(first: 20) {nodes {nas}} sessions(first: 100) {nodes {ratType}}}
	  alerts(first: 5, filter: {kind: {ne: VOLUME}}) {nodes {name ... on ConditionAlert {silentHours changesOf}}} silences(first: 5) {nodes {reason}}
	}`})
	want := []string{"pgw-london-1", "pgw-london-2", "sat-gw-1", "silentHours:96", "COUNTRY", "Weekly maintenance"}
	if minute := time.Now().Minute(); minute < 28 || minute > 42 {
		want = append(want, "pgw-frankfurt-1", "ratType:NR") // it fails from half past on
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		_, answer := s.post("/graphql", "application/json", s.token, string(query))
		text := fmt.Sprint(answer)
		want = slices.DeleteFunc(want, func(part string) bool { return strings.Contains(text, part) })
		if len(want) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %q after two minutes: %v %s", want, answer, s.stderr)
		}
	}
}

// emptyInTheDemo are connections that the demo company has nothing for, with the reason.
var emptyInTheDemo = map[string]string{
	"Query.commands":         "no provider of commands is set up: what it would call is nobody's",
	"Query.sources":          "no carrier posts records to the demo",
	"Query.sourceRejects":    "no carrier posts records to the demo",
	"Query.upstreams":        "the demo is no copy of another server",
	"Query.trustedDocuments": "what an app sends is stored with the app",
	"Company.reports":        "nobody reads the addresses of the demo: a report would send mail to them each day",
}

// A newcomer finds something in every list: what the schema has of connections at its
// root and of the company, without arguments that are needed.
func TestTheDemoFillsEveryList(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil, "--demo-feed", "on")
	ask := func(query string) map[string]any {
		text, _ := json.Marshal(map[string]string{"query": query})
		_, answer := s.post("/graphql", "application/json", s.token, string(text))
		data, _ := answer["data"].(map[string]any)
		if answer["errors"] != nil || data == nil {
			t.Fatalf("%s: %v", query, answer)
		}
		return data
	}
	empty := map[string]string{}
	for parent, question := range map[string]string{"Query": "{of: %s(first: 1) {nodes {__typename}}}", "Company": "{company {of: %s(first: 1) {nodes {__typename}}}}"} {
		of := ask(`{__type(name: "` + parent + `") {fields {name type {name ofType {name}} args {type {kind}}}}}`)["__type"].(map[string]any)
		for _, field := range of["fields"].([]any) {
			f := field.(map[string]any)
			needed := strings.Contains(fmt.Sprint(f["args"]), "NON_NULL")
			if strings.Contains(fmt.Sprint(f["type"]), "Connection]") || strings.HasSuffix(fmt.Sprint(f["type"].(map[string]any)["name"]), "Connection") {
				if name := f["name"].(string); !needed && emptyInTheDemo[parent+"."+name] == "" {
					empty[parent+"."+name] = fmt.Sprintf(question, name)
				}
			}
		}
	}
	if len(empty) < 15 {
		t.Fatalf("the schema has %d connections", len(empty))
	}
	for deadline := time.Now().Add(4 * time.Minute); len(empty) > 0; time.Sleep(time.Second) {
		for name, question := range empty {
			if strings.Contains(fmt.Sprint(ask(question)), "__typename") {
				delete(empty, name)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("empty after four minutes: %v %s", empty, s.stderr)
		}
	}
}

func TestWithoutACompanyTheNextCommandsArePrinted(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cmd := exec.CommandContext(t.Context(), program, "serve", "--addr", "127.0.0.1:0", "--data-dir", dir)
	stdout, err := cmd.StdoutPipe()
	fatal.If(t, err)
	fatal.If(t, cmd.Start())
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		if strings.HasSuffix(lines.Text(), "/docs") { // it serves, and has written all that it does
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	err = cmd.Wait()
	for _, next := range []string{"simgraph company create acme --name \"Acme Ltd\" --data-dir " + dir, "simgraph user create ops@acme.example --company acme --data-dir " + dir, "simgraph token --user ops@acme.example --data-dir " + dir} {
		if !strings.Contains(printed.String(), next) {
			t.Errorf("%q is not in %s (%v)", next, printed.String(), err)
		}
	}
}

func TestASecondServerOnTheDirectoryReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil)
	status, _, stderr := simgraph(t, s.dir, "serve", "--addr", "127.0.0.1:0")
	if status != 1 || !strings.Contains(stderr, "in use by simgraph serve (process "+strconv.Itoa(s.cmd.Process.Pid)+")") || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("%d %q", status, stderr)
	}
	// Other commands attach to the running one.
	status, token, stderr := simgraph(t, s.dir, "token", "--user", "analyst@demo.example")
	if status != 0 {
		t.Fatalf("%d %s", status, stderr)
	}
	if status, body := s.get("/subscribers?limit=1", strings.TrimSpace(token)); status != http.StatusOK {
		t.Fatalf("%d %v", status, body)
	}
}

func TestWhatWasWrittenSurvivesKill(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	s := start(t, dir, nil)
	_, page := s.get("/subscribers?limit=1", s.token)
	id := page["content"].([]any)[0].(map[string]any)["physicalId"].(string)
	if status, body := s.post("/graphql", "application/json", s.token,
		fmt.Sprintf(`{"query": "mutation {editSubscriber(input: {physicalId: \"%s\", nickname: \"kept\"}) {subscriber {nickname}}}"}`, id)); status != http.StatusOK || body["errors"] != nil {
		t.Fatalf("%d %v", status, body)
	}
	s.end(syscall.SIGKILL)
	again := start(t, dir, nil)
	status, one := again.get("/subscribers/"+id, s.token)
	if status != http.StatusOK || one["content"].(map[string]any)["nickname"] != "kept" {
		t.Fatalf("%d %v", status, one)
	}
	if status := again.end(syscall.SIGINT); status != 0 {
		t.Fatalf("exit status %d: %s", status, again.stderr)
	}
	again.awaitNoDatabase()
}

func TestAnOrdinaryUserCanRunIt(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the other tests run as an ordinary user already")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	dir := dataDir(t)
	fatal.If(t, os.Chown(dir, uid, gid))
	s := start(t, dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)})
	if status, body := s.get("/tags", s.token); status != http.StatusOK {
		t.Fatalf("%d %v", status, body)
	}
}

// A client that knows the address of the service alone finds where tokens are issued
// (RFC 9728, RFC 8414).
func TestAClientDiscoversWhereTokensAreIssued(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil, "--public-url", "https://sim.example")
	const metadata = "https://sim.example/.well-known/oauth-protected-resource"
	for path, metadata := range map[string]string{"/subscribers": metadata, "/graphql": metadata, "/usage/records": metadata, "/mcp": metadata + "/mcp"} {
		for token, challenge := range map[string]string{"": `Bearer realm="simgraph", resource_metadata="` + metadata + `"`, "no-token": `Bearer realm="simgraph", error="invalid_token", resource_metadata="` + metadata + `"`} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+path, strings.NewReader("{}"))
			fatal.If(t, err)
			if path == "/subscribers" {
				r.Method = http.MethodGet
			}
			r.Header.Set("Content-Type", "application/json")
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			response, err := http.DefaultClient.Do(r)
			fatal.If(t, err)
			_ = response.Body.Close()
			if got := response.Header.Get("WWW-Authenticate"); response.StatusCode != http.StatusUnauthorized || got != challenge {
				t.Errorf("%s with token %q: %d %s, want %s", path, token, response.StatusCode, got, challenge)
			}
		}
	}
	status, tools := s.get("/.well-known/oauth-protected-resource/mcp", "")
	if status != http.StatusOK || tools["resource"] != "https://sim.example/mcp" {
		t.Errorf("%d %v", status, tools)
	}
	status, resource := s.get("/.well-known/oauth-protected-resource", "")
	if servers := fmt.Sprint(resource["authorization_servers"]); status != http.StatusOK || resource["resource"] != "https://sim.example" || servers != "[https://sim.example]" {
		t.Errorf("%d %v", status, resource)
	}
	if status, server := s.get("/.well-known/oauth-authorization-server", ""); status != http.StatusOK || server["issuer"] != "https://sim.example" || server["token_endpoint"] != "https://sim.example/oauth/token" {
		t.Errorf("%d %v", status, server)
	}
}

func TestAKeyIsExchangedUsedAndRevoked(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil)
	status, out, stderr := simgraph(t, s.dir, "key", "create", "--user", "admin@demo.example", "--scope", "View Subscriber")
	var key struct{ AccessKeyID, Secret string }
	if err := json.Unmarshal([]byte(out), &key); err != nil || status != 0 {
		t.Fatalf("%d %v %s %s", status, err, out, stderr)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {key.AccessKeyID}, "client_secret": {key.Secret}}
	code, grant := s.post("/oauth/token", "application/x-www-form-urlencoded", "", form.Encode())
	if code != http.StatusOK || grant["scope"] != "VIEW_SUBSCRIBER" || grant["token_type"] != "Bearer" {
		t.Fatalf("%d %v", code, grant)
	}
	token := grant["access_token"].(string)
	if code, body := s.get("/subscribers", token); code != http.StatusOK {
		t.Fatalf("%d %v", code, body)
	}
	if code, body := s.post("/subscribers/1", "application/json", token, `{"tagName":"mine"}`); code != http.StatusForbidden {
		t.Fatalf("%d %v", code, body)
	}
	if status, _, stderr := simgraph(t, s.dir, "key", "revoke", key.AccessKeyID); status != 0 {
		t.Fatal(stderr)
	}
	revoked := time.Now()
	for {
		if code, _ := s.get("/subscribers", token); code == http.StatusUnauthorized {
			return
		}
		if time.Since(revoked) > 5*time.Second {
			t.Fatal("the token outlives its key by more than 5 s")
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func TestABadLineIsNamedAndTheRestIsImported(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	file := filepath.Join(dir, "acme.ndjson")
	lines := `{"type":"company","id":"acme","name":"Acme Ltd"}
{"type":"group","company":"acme","id":0,"name":"Vans"}
{"type":"group","company":"acme","id":12,"name":"Vans"}
`
	fatal.If(t, os.WriteFile(file, []byte(lines), 0o600))
	data := filepath.Join(dir, "data")
	for range 2 {
		status, _, stderr := simgraph(t, data, "import", file)
		if status != 1 || !strings.Contains(stderr, file+":2: ") {
			t.Fatalf("%d %s", status, stderr)
		}
	}
	status, out, stderr := simgraph(t, data, "export", "--company", "acme")
	if status != 0 || !strings.Contains(out, `"id":12`) || strings.Contains(out, `"id":0`) {
		t.Fatalf("%d %s %s", status, out, stderr)
	}
}

func TestAFileOfChangesIsTriedAndRunByTheCommand(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	const subscriber = `{"type":"subscriber","company":"acme","kind":"cellular","physicalId":"8944%d","subscriberId":"4477%d","dataNumber":null,"imsi":"","nickname":"",` +
		`"operatorCode":"23415","tariffName":"IoT","connectionDate":"2024-01-01T00:00:00Z","expiryDate":"2027-01-01T00:00:00Z","contractLength":36,"isBarred":false,"isActive":true,` +
		`"terminateDate":null,"groupId":null,"subscriberType":"physical","networkState":{"isTransferring":false,"isOnline":true},"eid":null,"smdpProvider":null}` + "\n"
	data := filepath.Join(dir, "data")
	bundle := write("acme.ndjson", `{"type":"company","id":"acme","name":"Acme Ltd"}
{"type":"operator","code":"23415","name":"Vodafone UK"}
{"type":"tariff","company":"acme","name":"IoT","lineRental":150,"currency":"GBP"}
`+fmt.Sprintf(subscriber, 1, 1)+fmt.Sprintf(subscriber, 2, 2))
	if status, _, stderr := simgraph(t, data, "import", bundle); status != 0 {
		t.Fatalf("%d %s", status, stderr)
	}
	file := write("fleet.csv", "ICCID;nickname;Remarks\n89441;van 1;\n89443;van 3;\n89442;van 2;\n")
	args := []string{"import", file, "--map", "ICCID=physicalId", "--map", "Remarks="}
	for _, c := range []struct {
		args   []string
		stdout string
		vans   int
	}{
		{[]string{"--dry-run"}, "3 lines, 2 would change, 1 failed", 0},
		{nil, "3 lines, 2 would change, 1 failed", 0},
		{[]string{"--error-policy", "REJECT_FAILED_ROWS"}, "3 lines, 2 changed, 1 failed", 2},
	} {
		status, stdout, stderr := simgraph(t, data, append(slices.Clone(args), c.args...)...)
		if status != 1 || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, file+`:3: no subscriber "89443" on this account`) {
			t.Errorf("%v: %d %q %q", c.args, status, stdout, stderr)
		}
		if _, out, _ := simgraph(t, data, "export", "--company", "acme"); strings.Count(out, `"nickname":"van `) != c.vans {
			t.Errorf("%v: %s", c.args, out)
		}
	}
}

func TestAServerRefusesAnotherRetentionThanItsDatabaseHas(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	if status, stdout, stderr := simgraph(t, dir, "ledger", "retention", "24"); status != 0 || !strings.Contains(stdout, "keeps 24 months") {
		t.Fatalf("%d %s %s", status, stdout, stderr)
	}
	status, _, stderr := simgraph(t, dir, "serve", "--addr", "127.0.0.1:0", "--retention", "13")
	if status != 1 || !strings.Contains(stderr, "this database keeps 24 months of usage records, --retention says 13") {
		t.Errorf("%d %q", status, stderr)
	}
	for name, of := range map[string]struct{ kept, flag, want string }{
		"audit":    {"0", "--audit-retention", "this database keeps entries of the audit log for ever, --audit-retention says 9"},
		"mails":    {"90", "--mail-retention", "this database keeps mails that were sent or given up 90 days, --mail-retention says 9"},
		"messages": {"30", "--webhook-retention", "this database keeps messages to webhooks, and commands to carriers 30 days, --webhook-retention says 9"},
	} {
		if status, stdout, stderr := simgraph(t, dir, "retention", "set", name, of.kept, "--yes"); status != 0 {
			t.Fatalf("%d %s %s", status, stdout, stderr)
		}
		status, _, stderr := simgraph(t, dir, "serve", "--addr", "127.0.0.1:0", of.flag, "9")
		if status != 1 || !strings.Contains(stderr, of.want+": leave "+of.flag+" out, or change the database with simgraph retention set "+name+" 9") {
			t.Errorf("%s: %d %q", of.flag, status, stderr)
		}
	}
}

// One line that says what is wrong, also of serve, and the status of wrong usage or of a
// failure; no password.
func TestWhatPeopleGetWrongIsOneClearLine(t *testing.T) {
	t.Parallel()
	admin, err := url.Parse(dbtest.URL(t))
	fatal.If(t, err)
	pool := openDatabase(t, admin.String())
	ascii := fmt.Sprintf("ascii_%d", os.Getpid())
	pool.MustExecContext(t.Context(), "CREATE DATABASE "+ascii+" ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { _, _ = pool.ExecContext(context.Background(), "DROP DATABASE "+ascii+" WITH (FORCE)") })
	admin.Path = "/" + ascii
	for _, c := range []struct {
		environ string
		status  int
		say     string
	}{
		{"SIMGRAPH_DATABASE_URL=mysql://root:s3cret@db:3306/x", 1, "the database address: mysql:// is not PostgreSQL: it is to be postgres://"},
		{"SIMGRAPH_DATABASE_URL=" + admin.String(), 1, "is SQL_ASCII, and simgraph needs UTF8"},
		{"SIMGRAPH_DATABSE_URL=postgres://s3cret@db/x", 2, "the variable SIMGRAPH_DATABSE_URL is no setting of simgraph: is SIMGRAPH_DATABASE_URL meant?"},
	} {
		for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"company", "list"}} {
			status, _, stderr := simgraphWith(t, dataDir(t), []string{c.environ}, args...)
			if status != c.status || !strings.Contains(stderr, c.say) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "s3cret") {
				t.Errorf("%v with %s: %d %q", args, c.environ, status, stderr)
			}
		}
		status, stdout, stderr := simgraphWith(t, dataDir(t), []string{c.environ}, "doctor", "--json")
		var found struct {
			OK       bool
			Findings []doctor.Finding
		}
		if err := json.Unmarshal([]byte(stdout), &found); err != nil {
			t.Fatal(err, stdout)
		}
		wrong := slices.ContainsFunc(found.Findings, func(of doctor.Finding) bool {
			return of.State == doctor.Wrong && strings.Contains(of.Found, c.say) && of.Do != ""
		})
		if status != 1 || found.OK || !wrong || strings.Contains(stdout+stderr, "s3cret") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("doctor with %s: %d %s %s", c.environ, status, stdout, stderr)
		}
	}
}

func TestTheDoctorReadsTheSettingsOfTheServer(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	environ := []string{"SIMGRAPH_DATABASE_URL=" + address, "SIMGRAPH_QUEUE=many", "SIMGRAPH_LATER=1", "SIMGRAPH_SERVICE_HOST=10.0.0.1"}
	status, stdout, _ := simgraphWith(t, dataDir(t), environ, "doctor")
	for _, line := range []string{"wrong    settings     --queue:", "warning  variables    the variable SIMGRAPH_LATER is no setting of simgraph\n", "→ remove it", "ok       database     it answers"} {
		if !strings.Contains(stdout, line) {
			t.Errorf("%q is not in\n%s", line, stdout)
		}
	}
	if status != 1 || strings.Contains(stdout, "SERVICE_HOST") {
		t.Errorf("%d\n%s", status, stdout)
	}
}

func openDatabase(t *testing.T, address string) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func TestPsqlGetsItsArgumentsAndGivesItsExitStatus(t *testing.T) {
	t.Parallel()
	on := []string{"--database-url", dbtest.URL(t)}
	for _, c := range []struct {
		args   []string
		status int
		out    string
	}{
		{[]string{"-At", "-c", "SELECT 1"}, 0, "1\n"},
		{[]string{"-At", "-v", "x=--log-level", "-c", `\echo :x`}, 0, "--log-level\n"},
		{[]string{"-At", "-c", `\! exit 7`, "--no-psqlrc", "--", "-x"}, 0, ""},
		{[]string{"--version"}, 0, "psql (PostgreSQL)"},
		{[]string{"--help"}, 0, "psql is the PostgreSQL interactive terminal."},
		{[]string{"--data-dir", "x"}, 1, ""},
		{[]string{"-c", "SELECT nothing"}, 1, ""},
	} {
		status, stdout, stderr := simgraph(t, "", append(append(slices.Clone(on), "psql"), c.args...)...)
		if status != c.status || !strings.HasPrefix(stdout, c.out) || strings.Contains(stderr, "simgraph:") {
			t.Errorf("%q: %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	script := filepath.Join(t.TempDir(), "fails.sql")
	fatal.If(t, os.WriteFile(script, []byte("SELECT nothing;\n"), 0o600))
	if status, _, stderr := simgraph(t, "", append(on, "psql", "-v", "ON_ERROR_STOP=1", "-f", script)...); status != 3 || strings.Contains(stderr, "simgraph:") {
		t.Errorf("a script that fails: %d, %q", status, stderr)
	}
}

func TestExitStatusOfWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--nonsense"}, {"nonsense"}, {"token"}, {"import"}, {"serve", "--log-format", "xml"},
		{"serve", "--retention", "2"}, {"serve", "--drop-delay", "-1s"}, {"ledger"}, {"ledger", "retention"},
		{"--max-conns=-1"}, {"serve", "--statement-timeout=-1s"}, {"serve", "--request-timeout", "1s"},
	} {
		status, stdout, stderr := simgraph(t, dataDir(t), args...)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: %d %q %q", args, status, stdout, stderr)
		}
	}
	// A database that takes long to start is reported before.
	status, _, stderr := simgraph(t, dataDir(t), "token", "--user", "nobody@nowhere.example")
	reports := regexp.MustCompile(`(?m)^time=\S+ level=INFO .*\n`).ReplaceAllString(stderr, "")
	if status != 1 || strings.Count(reports, "\n") != 1 {
		t.Errorf("%d %q", status, stderr)
	}
}
