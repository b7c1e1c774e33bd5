package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"simgraph/domain"
	"simgraph/internal/issuer"
	"simgraph/internal/issuertest"
)

func newClient(t *testing.T, p *issuertest.Provider, options issuer.Options) *issuer.Client {
	t.Helper()
	of, err := issuer.New(p.URL, options)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer.Client{Issuer: of, ID: issuertest.ClientID, Secret: issuertest.ClientSecret, RedirectURL: "http://127.0.0.1/signin/test/callback"}
}

// signIn goes through the whole flow; change changes what comes back.
func signIn(t *testing.T, p *issuertest.Provider, c *issuer.Client, change func(url.Values)) (*issuer.Person, error) {
	t.Helper()
	attempt := issuer.NewAttempt()
	address, err := c.Begin(t.Context(), attempt)
	if err != nil {
		return nil, err
	}
	answer := p.SignIn(address).Query()
	if change != nil {
		change(answer)
	}
	return c.Finish(t.Context(), attempt, answer)
}

func isRefused(err error) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == domain.KindInvalidToken
}

// changed returns a forger of tokens that are signed well, with other claims.
func changed(change map[string]any) func(*testing.T, *issuertest.Provider, map[string]any) string {
	return func(_ *testing.T, p *issuertest.Provider, claims map[string]any) string {
		claims = maps.Clone(claims)
		maps.Copy(claims, change)
		maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
		return p.Sign(claims)
	}
}

// ofType returns a forger of tokens that are signed well, as tokens of another kind.
func ofType(kind any) func(*testing.T, *issuertest.Provider, map[string]any) string {
	return func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return issuertest.Sign(t, jose.ES256, p.Signer(), map[string]any{"kid": p.Keys[0].KeyID, "typ": kind}, claims)
	}
}

func textOf(t *testing.T, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func seconds(from time.Duration) int64 { return time.Now().Add(from).Unix() }

func newRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newEC(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// unsigned puts any header before the claims, and any signature behind.
func unsigned(t *testing.T, header map[string]any, claims any, signature string) string {
	t.Helper()
	part := func(value any) string {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(header) + "." + part(claims) + "." + signature
}

var hostile = map[string]func(t *testing.T, p *issuertest.Provider, claims map[string]any) string{
	"of no algorithm": func(t *testing.T, _ *issuertest.Provider, claims map[string]any) string {
		return unsigned(t, map[string]any{"alg": "none"}, claims, "")
	},
	"of no algorithm, with the id of the key": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return unsigned(t, map[string]any{"alg": "None", "kid": p.Keys[0].KeyID}, claims, "")
	},
	"signed by HS256 with the public key": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		der, err := x509.MarshalPKIXPublicKey(p.Keys[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		return issuertest.Sign(t, jose.HS256, secret, map[string]any{"kid": p.Keys[0].KeyID}, claims)
	},
	"signed by HS256 with a published secret": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		secret := []byte("a secret of more than thirty-two bytes")
		p.Keys = append(p.Keys, jose.JSONWebKey{Key: secret, KeyID: "shared"})
		return issuertest.Sign(t, jose.HS256, secret, map[string]any{"kid": "shared"}, claims)
	},
	"signed by HS256 with the secret of the client": func(t *testing.T, _ *issuertest.Provider, claims map[string]any) string {
		return issuertest.Sign(t, jose.HS256, []byte(strings.Repeat(issuertest.ClientSecret, 2)), nil, claims)
	},
	"signed by an algorithm that is not of the list": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		key := newRSA(t)
		p.Keys = append(p.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: "long"})
		return issuertest.Sign(t, jose.RS384, key, map[string]any{"kid": "long"}, claims)
	},
	"signed by an unknown key": func(t *testing.T, _ *issuertest.Provider, claims map[string]any) string {
		return issuertest.Sign(t, jose.ES256, newEC(t), map[string]any{"kid": "unknown"}, claims)
	},
	"signed by another key under the id of the issuer's": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return issuertest.Sign(t, jose.ES256, newEC(t), map[string]any{"kid": p.Keys[0].KeyID}, claims)
	},
	"signed by a key of another kind under the id of the issuer's": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return issuertest.Sign(t, jose.RS256, newRSA(t), map[string]any{"kid": p.Keys[0].KeyID}, claims)
	},
	"with no sub, but Sub":       changed(map[string]any{"Sub": "person-2", "sub": nil}),
	"with another issuer as ISS": changed(map[string]any{"ISS": "https://evil.example", "iss": nil}),
	"with no exp, but Exp":       changed(map[string]any{"Exp": seconds(time.Hour), "exp": nil}),
	"with no aud, but AUD":       changed(map[string]any{"AUD": issuertest.ClientID, "aud": nil}),
	"with no nonce, but one under a name of other case": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return changed(map[string]any{"Nonce": claims["nonce"], "nonce": nil})(t, p, claims)
	},
	"with a name twice": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return p.SignText(strings.Replace(textOf(t, claims), `{`, `{"sub":"person-2",`, 1))
	},
	"with a name twice, once escaped": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return p.SignText(strings.Replace(textOf(t, claims), `{`, `{"s\u0075b":"person-2",`, 1))
	},
	"with a name twice in an object of a list": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return p.SignText(strings.Replace(textOf(t, claims), `{`, `{"more":[{"roles":[],"roles":["admin"]}],`, 1))
	},
	"of the type logout+jwt":     ofType("logout+jwt"),
	"of the type jwt":            ofType("jwt"),
	"of the empty type":          ofType(""),
	"of a type that is a number": ofType(7),
	"signed by the key in its own header": func(t *testing.T, _ *issuertest.Provider, claims map[string]any) string {
		key := newEC(t)
		return issuertest.Sign(t, jose.ES256, key, map[string]any{"jwk": jose.JSONWebKey{Key: key.Public()}}, claims)
	},
	"signed by a key that its header leads to": func(t *testing.T, _ *issuertest.Provider, claims map[string]any) string {
		return issuertest.Sign(t, jose.ES256, newEC(t), map[string]any{"kid": "theirs", "jku": "https://evil.example/keys"}, claims)
	},
	"signed by a key for encryption": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		key := newEC(t)
		p.Keys = append(p.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: "enc", Use: "enc"})
		return issuertest.Sign(t, jose.ES256, key, map[string]any{"kid": "enc"}, claims)
	},
	"signed by a key of another algorithm": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		key := newRSA(t)
		p.Keys = append(p.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: "pss", Algorithm: string(jose.PS256)})
		return issuertest.Sign(t, jose.RS256, key, map[string]any{"kid": "pss"}, claims)
	},
	"signed without naming one of two keys": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		key := newEC(t)
		p.Keys = append(p.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: "second"})
		return issuertest.Sign(t, jose.ES256, key, nil, claims)
	},
	"changed after it was signed": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		parts := strings.Split(p.Sign(claims), ".")
		claims["groups"] = []string{"admins"}
		header, _ := base64.RawURLEncoding.DecodeString(parts[0])
		var read map[string]any
		_ = json.Unmarshal(header, &read)
		return unsigned(t, read, claims, parts[2])
	},
	"with critical extensions": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		return unsigned(t, map[string]any{"alg": "ES256", "kid": p.Keys[0].KeyID, "crit": []string{"exp"}}, claims, strings.Split(p.Sign(claims), ".")[2])
	},
	"no token":          func(*testing.T, *issuertest.Provider, map[string]any) string { return "x.y.z" },
	"that is too long":  changed(map[string]any{"padding": strings.Repeat("x", 70_000)}),
	"of another issuer": changed(map[string]any{"iss": "https://evil.example"}),
	"of an issuer with a slash more": func(_ *testing.T, p *issuertest.Provider, c map[string]any) string {
		return changed(map[string]any{"iss": p.URL + "/"})(nil, p, c)
	},
	"of no issuer":                            changed(map[string]any{"iss": nil}),
	"for another audience":                    changed(map[string]any{"aud": "another"}),
	"for no audience":                         changed(map[string]any{"aud": nil}),
	"for an audience with our prefix":         changed(map[string]any{"aud": issuertest.ClientID + "-2"}),
	"issued to another client":                changed(map[string]any{"azp": "another"}),
	"for several audiences, issued to nobody": changed(map[string]any{"aud": []string{issuertest.ClientID, "another"}}),
	"that has expired":                        changed(map[string]any{"exp": seconds(-2 * time.Minute)}),
	"that never expires":                      changed(map[string]any{"exp": nil}),
	"with an expiry in words":                 changed(map[string]any{"exp": "tomorrow"}),
	"that is not valid yet":                   changed(map[string]any{"nbf": seconds(2 * time.Minute)}),
	"from the future":                         changed(map[string]any{"iat": seconds(2 * time.Minute)}),
	"of another sign-in":                      changed(map[string]any{"nonce": "another"}),
	"without a nonce":                         changed(map[string]any{"nonce": nil}),
	"of nobody":                               changed(map[string]any{"sub": nil}),
	"of somebody with a long name":            changed(map[string]any{"sub": strings.Repeat("x", 256)}),
	"of another access token":                 changed(map[string]any{"at_hash": "bm90IHRoaXMgb25l"}),
	"that is an access token": func(t *testing.T, p *issuertest.Provider, claims map[string]any) string {
		key := newEC(t)
		p.Keys = []jose.JSONWebKey{{Key: key.Public(), KeyID: "at"}}
		return issuertest.Sign(t, jose.ES256, key, map[string]any{"kid": "at", "typ": "at+jwt"}, claims)
	},
}

func TestHostileTokensAreRefused(t *testing.T) {
	t.Parallel()
	for name, forge := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := issuertest.New(t)
			p.Set(func(p *issuertest.Provider) {
				p.Forge = func(claims map[string]any) string { return forge(t, p, claims) }
			})
			if person, err := signIn(t, p, newClient(t, p, issuer.Options{}), nil); !isRefused(err) {
				t.Errorf("%v, %v", person, err)
			}
		})
	}
}

func TestTokensOfEveryAlgorithmOfTheListAreTaken(t *testing.T) {
	t.Parallel()
	key := newRSA(t)
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.PS256} {
		p := issuertest.New(t)
		p.Set(func(p *issuertest.Provider) {
			p.Keys = append(p.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: "rsa"})
			p.Forge = func(claims map[string]any) string {
				return issuertest.Sign(t, algorithm, key, map[string]any{"kid": "rsa"}, claims)
			}
		})
		if person, err := signIn(t, p, newClient(t, p, issuer.Options{}), nil); err != nil || person.Subject != "person-1" {
			t.Errorf("%s: %v, %v", algorithm, person, err)
		}
	}
}

func TestClocksMayDifferByAMinute(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	p.Set(func(p *issuertest.Provider) {
		p.Forge = func(claims map[string]any) string {
			return changed(map[string]any{"exp": seconds(-20 * time.Second), "nbf": seconds(20 * time.Second), "iat": seconds(20 * time.Second)})(t, p, claims)
		}
	})
	if _, err := signIn(t, p, newClient(t, p, issuer.Options{}), nil); err != nil {
		t.Error(err)
	}
}

func TestHostileAnswersAreRefused(t *testing.T) {
	t.Parallel()
	p, other := issuertest.New(t), issuertest.New(t)
	c := newClient(t, p, issuer.Options{})
	for name, change := range map[string]func(url.Values){
		"of another state":         func(answer url.Values) { answer.Set("state", "another") },
		"without a state":          func(answer url.Values) { answer.Del("state") },
		"of another issuer":        func(answer url.Values) { answer.Set("iss", other.URL) },
		"that hides its issuer":    func(answer url.Values) { answer.Del("iss") },
		"with another code":        func(answer url.Values) { answer.Set("code", "another") },
		"without a code":           func(answer url.Values) { answer.Del("code") },
		"with two codes":           func(answer url.Values) { answer.Add("code", "another") },
		"with two states":          func(answer url.Values) { answer.Add("state", "another") },
		"with a code of the other": func(answer url.Values) { answer.Set("code", codeOf(t, other)) },
		"with the code of another sign-in, which another verifier proves": func(answer url.Values) { answer.Set("code", codeOf(t, p)) },
	} {
		if _, err := signIn(t, p, c, change); !isRefused(err) {
			t.Errorf("an answer %s: %v", name, err)
		}
	}
	_, err := signIn(t, p, c, func(answer url.Values) {
		answer.Del("code")
		answer.Set("error", "access_denied")
	})
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindForbidden || !strings.Contains(fault.Message, "access_denied") {
		t.Errorf("got %v", err)
	}
}

// codeOf is a code that another person got.
func codeOf(t *testing.T, p *issuertest.Provider) string {
	t.Helper()
	address, err := newClient(t, p, issuer.Options{}).Begin(t.Context(), issuer.NewAttempt())
	if err != nil {
		t.Fatal(err)
	}
	return p.SignIn(address).Query().Get("code")
}

func TestACodeIsGoodForOneUse(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	c, attempt := newClient(t, p, issuer.Options{}), issuer.NewAttempt()
	address, err := c.Begin(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	answer := p.SignIn(address).Query()
	if _, err := c.Finish(t.Context(), attempt, answer); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finish(t.Context(), attempt, answer); !isRefused(err) {
		t.Errorf("got %v", err)
	}
}

// An attacker's provider that hands a browser's sign-in to an honest one gets neither
// code nor session: callbacks differ, and the answer names its issuer.
func TestIssuersAreNotMixedUp(t *testing.T) {
	t.Parallel()
	honest, evil := issuertest.New(t), issuertest.New(t)
	evil.Set(func(p *issuertest.Provider) {
		p.Metadata = map[string]any{"authorization_endpoint": honest.URL + "/authorize", "authorization_response_iss_parameter_supported": false}
	})
	if _, err := signIn(t, honest, newClient(t, evil, issuer.Options{}), nil); !isRefused(err) {
		t.Errorf("got %v", err)
	}
}
