package rest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

var update = flag.Bool("update", false, "write the answers of the server into testdata")

// shown are the headers of an answer that a file shows, where they are set.
var shown = []string{"Allow", "Content-Type", "Link", "Location", "Retry-After", "Www-Authenticate", "X-Total-Count"}

// Each file of testdata holds requests ("> ") with the exact answers ("< ",
// and a body, indented). The requests of a file run in their order on one
// database, and what is answered by an error or asked by GET changes nothing.
// "> as NAME" says whose token is sent: admin's by default, and
// none for "-".
func TestContract(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			server := httptest.NewServer(newServer(t, pool, nil))
			defer server.Close()
			c := client{t: t, address: server.Listener.Addr().String(), tokens: tokens(t, pool), pool: pool, contract: contract(t)}
			c.runFile(file)
		})
	}
}

// exchange is a request with its answer.
type exchange struct {
	title   string
	as      string
	request []string // request line and headers
	body    string
	answer  string
}

func (c *client) runFile(file string) {
	text, err := os.ReadFile(file)
	fatal.If(c.t, err)
	var written strings.Builder
	for _, e := range parse(string(text)) {
		got := c.run(e)
		if got != e.answer && !*update {
			c.t.Errorf("%s\ngot:\n%s\nwant:\n%s", e.title, got, e.answer)
		}
		e.answer = got
		written.WriteString(e.String())
	}
	if !*update {
		return
	}
	fatal.If(c.t, os.WriteFile(file, []byte(written.String()), 0o644))
}

// parse reads a file; each exchange begins with a line "# title".
func parse(text string) []exchange {
	var all []exchange
	for part := range strings.SplitSeq("\n"+text, "\n# ") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		all = append(all, parseExchange(strings.TrimRight(part, "\n")))
	}
	return all
}

func parseExchange(text string) exchange {
	lines := strings.Split(text, "\n")
	e := exchange{title: lines[0], as: "admin"}
	var body []string
	inBody := false
	for i, line := range lines[1:] {
		asked, isRequest := strings.CutPrefix(line, ">")
		asked = strings.TrimPrefix(asked, " ")
		name, isUser := strings.CutPrefix(asked, "as ")
		switch {
		case !isRequest:
			e.answer = strings.Join(lines[1+i:], "\n") + "\n"
			e.body = strings.Join(body, "\n")
			return e
		case inBody:
			body = append(body, asked)
		case asked == "":
			inBody = true
		case isUser:
			e.as = name
		default:
			e.request = append(e.request, asked)
		}
	}
	e.body = strings.Join(body, "\n")
	return e
}

func (e exchange) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", e.title)
	if e.as != "admin" {
		fmt.Fprintf(&b, "> as %s\n", e.as)
	}
	for _, line := range e.request {
		fmt.Fprintf(&b, "> %s\n", line)
	}
	if e.body != "" {
		fmt.Fprintf(&b, ">\n> %s\n", strings.ReplaceAll(e.body, "\n", "\n> "))
	}
	return b.String() + e.answer + "\n"
}

// client speaks to the server byte by byte: an ordinary one would tidy up the
// paths and headers that are to be tried.
type client struct {
	t       *testing.T
	address string
	tokens  map[string]string
	pool    *sqlx.DB
	// contract is the OpenAPI document, which every answer is held to.
	contract *openapi3.T
}

func (c *client) run(e exchange) string {
	c.t.Helper()
	before := digest(c.t, c.pool)
	response, body := c.send(e)
	changes := response.StatusCode < 300 && !strings.HasPrefix(e.request[0], "GET ") && !strings.HasPrefix(e.request[0], "HEAD ")
	if !changes && digest(c.t, c.pool) != before {
		c.t.Errorf("%s: the database changed", e.title)
	}
	c.checkHeaders(e, response, body)
	checkContract(c.t, c.contract, e, response.StatusCode, body)
	return show(response, body)
}

func (c *client) send(e exchange) (*http.Response, []byte) {
	c.t.Helper()
	connection, err := net.Dial("tcp", c.address)
	fatal.If(c.t, err)
	defer connection.Close()
	if _, err := io.WriteString(connection, c.text(e)); err != nil {
		c.t.Fatal(err)
	}
	method, _, _ := strings.Cut(e.request[0], " ")
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(e.title, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(e.title, err)
	}
	return response, body
}

func (c *client) text(e exchange) string {
	lines := append([]string{e.request[0] + " HTTP/1.1", "Host: " + c.address, "Connection: close", "X-Request-Id: test"}, e.request[1:]...)
	if token := c.tokens[e.as]; token != "" {
		lines = append(lines, "Authorization: Bearer "+token)
	}
	if e.body != "" {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(e.body)))
	}
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + e.body
}

// checkHeaders holds what is the same for all answers.
func (c *client) checkHeaders(e exchange, response *http.Response, body []byte) {
	c.t.Helper()
	h := response.Header
	if h.Get("X-Request-Id") != "test" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		c.t.Errorf("%s: got headers %v", e.title, h)
	}
	if strings.HasPrefix(e.request[0], "HEAD ") && len(body) > 0 {
		c.t.Errorf("%s: HEAD got a body", e.title)
	}
	compact := bytes.Buffer{}
	if err := json.Compact(&compact, body); len(body) > 0 && (err != nil || compact.Len() != len(body)) {
		c.t.Errorf("%s: not compact JSON: %v", e.title, err)
	}
}

func show(response *http.Response, body []byte) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "< %d\n", response.StatusCode)
	for _, name := range shown {
		for _, value := range response.Header[name] {
			fmt.Fprintf(&b, "< %s: %s\n", name, value)
		}
	}
	if len(body) > 0 {
		_ = json.Indent(&b, body, "", "  ")
		b.WriteByte('\n')
	}
	return b.String()
}

// digest shows whether anything in the database has changed.
func digest(t *testing.T, pool *sqlx.DB) string {
	t.Helper()
	var tables []string
	err := pool.SelectContext(t.Context(), &tables, `
SELECT c.oid::regclass::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`)
	fatal.If(t, err)
	slices.Sort(tables)
	var parts []string
	for _, table := range tables {
		parts = append(parts, fmt.Sprintf(`(SELECT coalesce(md5(string_agg(t::text, '' ORDER BY t::text)), '') FROM %s t)`, table))
	}
	var sum string
	fatal.If(t, pool.GetContext(t.Context(), &sum, `SELECT concat_ws(',', `+strings.Join(parts, ", ")+`)`))
	return sum
}

func decode(t *testing.T, body []byte) any {
	t.Helper()
	var v any
	fatal.If(t, json.Unmarshal(body, &v))
	return v
}
