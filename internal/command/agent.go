package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const (
	// connecting bounds how long the server is waited for.
	connecting = 30 * time.Second
	// renewing is how long before its end a token is replaced.
	renewing = 30 * time.Second
)

// MCP serves the tools of a server to a desktop client on this machine.
type MCP struct {
	Server string `required:"" placeholder:"URL" help:"The server whose tools are served, such as https://sim.example."`
	Key    string `placeholder:"ID" help:"The id of an access key of the server."`
	Secret string `placeholder:"SECRET" help:"The secret of the access key. Set it by the environment: other users of the machine can read flags."`
	Token  string `placeholder:"TOKEN" help:"An access token, instead of a key; it is not renewed. Set it by the environment."`
}

// Help shows an example.
func (MCP) Help() string {
	return `A desktop client starts this command, and speaks the Model Context Protocol with it over
standard input and output. Calls go to POST /mcp of the server. No database is opened.

Example:

	SIMGRAPH_KEY=ID SIMGRAPH_SECRET=SECRET simgraph mcp --server https://sim.example`
}

// Validate is called by kong.
func (m *MCP) Validate() error {
	at, err := url.Parse(m.Server)
	switch {
	case err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return errors.New("--server must be the address of a server, such as https://sim.example")
	case m.Token != "" && (m.Key != "" || m.Secret != ""), m.Token == "" && (m.Key == "" || m.Secret == ""):
		return errors.New("give an access key by SIMGRAPH_KEY and SIMGRAPH_SECRET, or a token by SIMGRAPH_TOKEN")
	}
	return nil
}

// Run serves until standard input ends. Only the protocol is written to standard output.
func (m *MCP) Run(ctx context.Context) error {
	r := m.relay(ctx)
	first, err := r.connected(ctx)
	if err != nil {
		return fmt.Errorf("the tools of %s: %w", m.Server, err)
	}
	defer r.close()
	about := first.InitializeResult()
	server := sdk.NewServer(&sdk.Implementation{Name: "simgraph", Version: BuildVersion()}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, Instructions: about.Instructions,
	})
	server.AddReceivingMiddleware(r.pass)
	return server.Run(ctx, &sdk.StdioTransport{})
}

func (m *MCP) relay(ctx context.Context) *relay {
	base := strings.TrimRight(m.Server, "/")
	// A redirect would lead the secret elsewhere.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r := &relay{to: &sdk.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: client, DisableStandaloneSSE: true}}
	if m.Token != "" {
		r.tokens = func() oauth2.TokenSource { return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: m.Token}) }
	} else {
		key := clientcredentials.Config{ClientID: m.Key, ClientSecret: m.Secret, TokenURL: base + "/oauth/token", AuthStyle: oauth2.AuthStyleInHeader}
		asking := context.WithValue(ctx, oauth2.HTTPClient, &http.Client{CheckRedirect: client.CheckRedirect, Timeout: connecting})
		r.tokens = func() oauth2.TokenSource {
			return oauth2.ReuseTokenSourceWithExpiry(nil, sourceOf(func() (*oauth2.Token, error) { return key.Token(asking) }), renewing)
		}
		r.isRenewed = true
	}
	r.source = r.tokens()
	r.to.OAuthHandler = r
	return r
}

// sourceOf is a function that gets a token.
type sourceOf func() (*oauth2.Token, error)

// Token implements oauth2.TokenSource.
func (get sourceOf) Token() (*oauth2.Token, error) { return get() }

// relay passes the calls of a client on to a server.
type relay struct {
	to *sdk.StreamableClientTransport
	// tokens begins anew with a token; isRenewed reports that this gets another one.
	tokens    func() oauth2.TokenSource
	isRenewed bool

	// client is the one that wants to know of progress; there is one on standard input.
	client atomic.Pointer[sdk.ServerSession]

	mu     sync.Mutex
	source oauth2.TokenSource
	// session is nil until the server was reached, and after it was lost.
	session *sdk.ClientSession
}

// TokenSource implements auth.OAuthHandler.
func (r *relay) TokenSource(context.Context) (oauth2.TokenSource, error) { return r, nil }

// Token implements oauth2.TokenSource.
func (r *relay) Token() (*oauth2.Token, error) {
	r.mu.Lock()
	source := r.source
	r.mu.Unlock()
	token, err := source.Token()
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is && refused.Response != nil {
		return nil, fmt.Errorf("the access key was exchanged for no token: %s %s", refused.Response.Status, cmp.Or(refused.ErrorDescription, refused.ErrorCode))
	}
	return token, err
}

// Authorize implements auth.OAuthHandler: a token that was revoked is replaced once.
func (r *relay) Authorize(_ context.Context, _ *http.Request, answer *http.Response) error {
	_ = answer.Body.Close()
	if !r.isRenewed || answer.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("the server refused the credentials: %s", answer.Status)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source = r.tokens()
	return nil
}

// connected returns the session with the server, and begins one where there is none.
func (r *relay) connected(ctx context.Context) (*sdk.ClientSession, error) {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session != nil {
		return session, nil
	}
	// Report a refusal as it is: Connect would try an older revision of the protocol.
	if _, err := r.Token(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "simgraph mcp", Version: BuildVersion()}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, ProgressNotificationHandler: r.progress}).Connect(ctx, r.to, nil)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	first := r.session
	if first == nil {
		r.session = session
	}
	r.mu.Unlock()
	if first == nil {
		return session, nil
	}
	return first, session.Close() // another call was faster
}

// progress passes on how far a call is.
func (r *relay) progress(ctx context.Context, of *sdk.ProgressNotificationClientRequest) {
	if client := r.client.Load(); client != nil {
		_ = client.NotifyProgress(ctx, of.Params) // the client may have gone
	}
}

// forget forgets a session after an error that the server has not answered.
func (r *relay) forget(ctx context.Context, session *sdk.ClientSession, err error) {
	if _, answered := errors.AsType[*jsonrpc.Error](err); err == nil || answered || ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == session {
		r.session = nil
		go func() { _ = session.Close() }() // it waits for the calls of others
	}
}

func (r *relay) close() {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session != nil {
		_ = session.Close()
	}
}

// pass has the server answer what is about tools.
func (r *relay) pass(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		switch asked := request.(type) {
		case *sdk.ListToolsRequest:
			return ask(ctx, r, func(s *sdk.ClientSession) (*sdk.ListToolsResult, error) {
				params := &sdk.ListToolsParams{Meta: agentMeta(asked.ClientInfo())}
				if asked.Params != nil {
					params.Cursor = asked.Params.Cursor
				}
				return s.ListTools(ctx, params)
			})
		case *sdk.CallToolRequest:
			return ask(ctx, r, func(s *sdk.ClientSession) (*sdk.CallToolResult, error) {
				params := &sdk.CallToolParams{Meta: agentMeta(asked.ClientInfo()), Name: asked.Params.Name, Arguments: asked.Params.Arguments}
				if token := asked.Params.GetProgressToken(); token != nil {
					r.client.Store(asked.Session)
					params.SetProgressToken(token)
				}
				return s.CallTool(ctx, params)
			})
		}
		return next(ctx, method, request)
	}
}

// agentMeta has the audit log of the server name the desktop client.
func agentMeta(client *sdk.Implementation) sdk.Meta {
	if client == nil {
		return nil
	}
	return sdk.Meta{sdk.MetaKeyClientInfo: client}
}

// ask calls the server. A call that fails is not repeated: it may have written.
func ask[R sdk.Result](ctx context.Context, r *relay, call func(*sdk.ClientSession) (R, error)) (sdk.Result, error) {
	session, err := r.connected(ctx)
	if err != nil {
		return nil, err
	}
	result, err := call(session)
	if err != nil {
		r.forget(ctx, session, err)
		return nil, err
	}
	return result, nil
}
