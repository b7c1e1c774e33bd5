package issuer_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"simgraph/domain"
	"simgraph/internal/issuer"
	"simgraph/internal/issuertest"
)

func isUnavailable(err error) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == domain.KindUnavailable
}

// clock is one that a test moves.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

func TestAPersonSignsInAndIsRefreshed(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	c := newClient(t, p, issuer.Options{})
	person, err := signIn(t, p, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if person.Issuer != p.URL || person.Subject != "person-1" || person.Values["email"] != "person@acme.example" || person.RefreshToken == "" {
		t.Fatalf("got %+v", person)
	}
	p.Set(func(p *issuertest.Provider) { p.Person["groups"] = []string{"others"} })
	now, err := c.Refresh(t.Context(), person.RefreshToken, person.Subject)
	if err != nil || now.RefreshToken == person.RefreshToken {
		t.Fatalf("%v, %v", now, err)
	}
	if groups, _ := now.Values["groups"].([]any); len(groups) != 1 || groups[0] != "others" {
		t.Errorf("got %v", now.Values)
	}
	if _, err := c.Refresh(t.Context(), person.RefreshToken, person.Subject); !isRefused(err) {
		t.Errorf("a token that was used: %v", err)
	}
	if _, err := c.Refresh(t.Context(), now.RefreshToken, "somebody else"); !isRefused(err) {
		t.Errorf("another person: %v", err)
	}
}

func TestClaimsOfTheUserInfoAreAddedToThoseThatAreSigned(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	p.Set(func(p *issuertest.Provider) {
		p.Forge = func(claims map[string]any) string {
			return changed(map[string]any{"groups": nil, "email": "signed@acme.example"})(t, p, claims)
		}
	})
	c := newClient(t, p, issuer.Options{})
	c.UserInfo = true
	person, err := signIn(t, p, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if person.Values["groups"] == nil || person.Values["email"] != "signed@acme.example" {
		t.Errorf("got %v", person.Values)
	}
	p.Set(func(p *issuertest.Provider) {
		p.Forge = func(claims map[string]any) string { return changed(map[string]any{"sub": "another"})(t, p, claims) }
	})
	if _, err := signIn(t, p, c, nil); !isRefused(err) {
		t.Errorf("two persons: %v", err)
	}
}

func TestKeysAreReadAgainForNewOnesAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	p, now := issuertest.New(t), &clock{}
	c := newClient(t, p, issuer.Options{Now: now.now})
	if _, err := signIn(t, p, c, nil); err != nil {
		t.Fatal(err)
	}
	now.advance(90 * time.Second)
	p.Set((*issuertest.Provider).Rotate)
	if _, err := signIn(t, p, c, nil); err != nil {
		t.Fatal("after the keys changed: ", err)
	}
	for range 20 {
		forged := issuertest.Sign(t, jose.ES256, newEC(t), map[string]any{"kid": "unknown"}, p.Claims(nil))
		if _, err := c.Issuer.Check(t.Context(), forged, issuer.Expected{Audiences: []string{issuertest.ClientID}}); !isRefused(err) {
			t.Fatal(err)
		}
	}
	p.Set(func(p *issuertest.Provider) {
		if p.KeyReads != 2 {
			t.Errorf("the keys were read %d times", p.KeyReads)
		}
	})
}

func TestKeysAreReadAgainForASignatureThatIsWrongAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	p, now := issuertest.New(t), &clock{}
	c := newClient(t, p, issuer.Options{Now: now.now})
	if _, err := signIn(t, p, c, nil); err != nil {
		t.Fatal(err)
	}
	p.Set((*issuertest.Provider).Replace)
	if _, err := signIn(t, p, c, nil); !isRefused(err) {
		t.Errorf("within the minute: %v", err)
	}
	now.advance(90 * time.Second)
	if _, err := signIn(t, p, c, nil); err != nil {
		t.Fatal("after the key was replaced under its id: ", err)
	}
	for range 20 {
		forged := issuertest.Sign(t, jose.ES256, newEC(t), map[string]any{"kid": p.Keys[0].KeyID}, p.Claims(nil))
		if _, err := c.Issuer.Check(t.Context(), forged, issuer.Expected{Audiences: []string{issuertest.ClientID}}); !isRefused(err) {
			t.Fatal(err)
		}
	}
	p.Set(func(p *issuertest.Provider) {
		if p.KeyReads != 2 {
			t.Errorf("the keys were read %d times", p.KeyReads)
		}
	})
}

func TestNamesOfClaimsAreMatchedExactly(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	c := newClient(t, p, issuer.Options{})
	text := textOf(t, p.Claims(nil))
	for _, more := range []string{`"Sub":"person-2"`, `"SUB":null`, `"\u017fub":"person-2"`, `"Aud":"others"`, `"Exp":1`} {
		claims, err := c.Issuer.Check(t.Context(), p.SignText(strings.TrimSuffix(text, "}")+","+more+"}"), issuer.Expected{Audiences: []string{issuertest.ClientID}})
		if err != nil || claims.Subject != "person-1" {
			t.Errorf("with %s: %v, %v", more, claims, err)
		}
	}
	c.UserInfo = true
	p.Set(func(p *issuertest.Provider) {
		p.Forge = func(claims map[string]any) string { return p.Sign(claims) }
		p.UserInfo = func(map[string]any) string { return `{"Sub":"person-1","email":"other@acme.example"}` }
	})
	if _, err := signIn(t, p, c, nil); !isRefused(err) {
		t.Errorf("a UserInfo with another name of sub: %v", err)
	}
	p.Set(func(p *issuertest.Provider) {
		p.UserInfo = func(map[string]any) string { return `{"sub":"person-2","sub":"person-1"}` }
	})
	if _, err := signIn(t, p, c, nil); err == nil {
		t.Error("a UserInfo with sub twice was taken")
	}
}

func TestARefusalOfTheProviderIsReportedAsOne(t *testing.T) {
	t.Parallel()
	refusing := func(change func(p *issuertest.Provider, c *issuer.Client)) error {
		p := issuertest.New(t)
		c := newClient(t, p, issuer.Options{})
		change(p, c)
		_, err := signIn(t, p, c, nil)
		if !isUnavailable(err) {
			t.Fatalf("got %v", err)
		}
		return err
	}
	for want, change := range map[string]func(p *issuertest.Provider, c *issuer.Client){
		`refuses this service: "invalid_client"`: func(_ *issuertest.Provider, c *issuer.Client) { c.Secret = "expired" },
		`refuses the request: 403 Forbidden`:     func(p *issuertest.Provider, _ *issuer.Client) { p.Refusals = map[string]int{"/keys": 403} },
		`refuses the request: 404 Not Found`: func(p *issuertest.Provider, _ *issuer.Client) {
			p.Refusals = map[string]int{"/.well-known/openid-configuration": 404}
		},
		`refuses the request: 400 Bad Request`: func(p *issuertest.Provider, _ *issuer.Client) { p.Refusals = map[string]int{"/token": 400} },
		`does not answer, try again`:           func(p *issuertest.Provider, _ *issuer.Client) { p.Refusals = map[string]int{"/token": 502} },
		`refuses the request: 401 Unauthorized`: func(p *issuertest.Provider, c *issuer.Client) {
			c.UserInfo, p.Refusals = true, map[string]int{"/userinfo": 401}
		},
		`does not answer as it should`: func(p *issuertest.Provider, _ *issuer.Client) {
			p.Metadata = map[string]any{"issuer": "https://evil.example"}
		},
	} {
		if err := refusing(change); !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, not %q", err, want)
		}
	}
}

func TestAKeyThatWasWithdrawnIsRefused(t *testing.T) {
	t.Parallel()
	p, now := issuertest.New(t), &clock{}
	c := newClient(t, p, issuer.Options{Now: now.now})
	token := p.Sign(p.Claims(map[string]any{"exp": seconds(time.Hour)}))
	expected := issuer.Expected{Audiences: []string{"another", issuertest.ClientID}}
	if _, err := c.Issuer.Check(t.Context(), token, expected); err != nil {
		t.Fatal(err)
	}
	p.Set((*issuertest.Provider).Rotate)
	now.advance(11 * time.Minute)
	if _, err := c.Issuer.Check(t.Context(), token, expected); !isRefused(err) {
		t.Errorf("got %v", err)
	}
}

func TestAProviderThatIsDownIsUnavailableAndKnownKeysStay(t *testing.T) {
	t.Parallel()
	p, now := issuertest.New(t), &clock{}
	c := newClient(t, p, issuer.Options{Now: now.now})
	down := func(is bool) { p.Set(func(p *issuertest.Provider) { p.Down = is }) }
	token := p.Sign(p.Claims(map[string]any{"exp": seconds(100 * time.Hour)}))
	expected := issuer.Expected{Audiences: []string{issuertest.ClientID}}
	down(true)
	if _, err := c.Begin(t.Context(), issuer.NewAttempt()); !isUnavailable(err) {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Issuer.Check(t.Context(), token, expected); !isUnavailable(err) {
		t.Fatalf("got %v", err)
	}
	down(false)
	now.advance(10 * time.Second)
	if _, err := c.Issuer.Check(t.Context(), token, expected); err != nil {
		t.Fatal(err)
	}
	down(true)
	now.advance(2 * time.Hour)
	if _, err := c.Issuer.Check(t.Context(), token, expected); err != nil {
		t.Errorf("with keys of two hours ago: %v", err)
	}
	now.advance(30 * time.Hour)
	if _, err := c.Issuer.Check(t.Context(), token, expected); !isUnavailable(err) {
		t.Errorf("with keys of the day before yesterday: %v", err)
	}
	if _, err := c.Refresh(t.Context(), "any", "person-1"); !isUnavailable(err) {
		t.Errorf("got %v", err)
	}
}

func TestAWrongSecretOfTheServiceSaysNothingAboutPeople(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	c := newClient(t, p, issuer.Options{})
	c.Secret = "expired"
	if _, err := c.Refresh(t.Context(), "any", "person-1"); !isUnavailable(err) {
		t.Errorf("got %v", err)
	}
}

func TestAddressesOfIssuersAreOfTLS(t *testing.T) {
	t.Parallel()
	for address, fine := range map[string]bool{
		"https://login.example/realms/acme": true, "http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:1": true,
		"http://login.example": false, "http://localhost.evil.example": false, "login.example": false, "": false, "ftp://login.example": false,
		"https://user:password@login.example": false, "https://login.example?x=1": false, "https://login.example#x": false, "file:///etc/passwd": false,
	} {
		if _, err := issuer.New(address, issuer.Options{}); (err == nil) != fine {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestMetadataOfAnotherIssuerOrWithoutTLSAreRefused(t *testing.T) {
	t.Parallel()
	for name, metadata := range map[string]map[string]any{
		"another issuer":         {"issuer": "https://evil.example"},
		"keys without TLS":       {"jwks_uri": "http://evil.example/keys"},
		"a token endpoint of it": {"token_endpoint": "http://evil.example/token"},
		"keys of a file":         {"jwks_uri": "file:///etc/passwd"},
		"no keys":                {"jwks_uri": ""},
		"a huge document":        {"padding": strings.Repeat("x", 2<<20)},
	} {
		p := issuertest.New(t)
		p.Set(func(p *issuertest.Provider) { p.Metadata = metadata })
		if _, err := newClient(t, p, issuer.Options{}).Begin(t.Context(), issuer.NewAttempt()); !isUnavailable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedirectsToOtherHostsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inside.Close)
	p := issuertest.New(t)
	leads := httptest.NewServer(http.RedirectHandler(inside.URL+"/latest/meta-data", http.StatusFound))
	t.Cleanup(leads.Close)
	p.Set(func(p *issuertest.Provider) { p.Metadata = map[string]any{"jwks_uri": leads.URL} })
	token := p.Sign(p.Claims(nil))
	_, err := newClient(t, p, issuer.Options{}).Issuer.Check(t.Context(), token, issuer.Expected{Audiences: []string{issuertest.ClientID}})
	if !isUnavailable(err) || asked.Load() > 0 {
		t.Errorf("%v, %d requests", err, asked.Load())
	}
}

func TestTheClaimedByATokenIsReadBeforeItIsChecked(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	if got := issuer.ClaimedBy(p.Sign(p.Claims(nil))); got != p.URL {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"", "x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."} {
		if got := issuer.ClaimedBy(text); got != "" {
			t.Errorf("%q is of %q", text, got)
		}
	}
}

func FuzzToken(f *testing.F) {
	for _, text := range []string{"", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.AA", strings.Repeat(".", 100)} {
		f.Add(text)
	}
	of, err := issuer.New("http://127.0.0.1:1", issuer.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		issuer.ClaimedBy(text)
		if claims, err := of.Check(t.Context(), text, issuer.Expected{}); err == nil {
			t.Errorf("%q is taken: %v", text, claims)
		}
	})
}
