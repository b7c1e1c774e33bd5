package signin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/issuer"
)

const (
	// maxProviders bounds the providers of a file.
	maxProviders = 50
	// maxConfig bounds the file and the files of secrets that it names, in bytes.
	maxConfig = 1 << 20
)

// providersFile is the file of --oidc-config.
type providersFile struct {
	Providers []providerEntry `json:"providers"`
}

type providerEntry struct {
	Name                string            `json:"name"`
	Title               string            `json:"title"`
	Issuer              string            `json:"issuer"`
	ClientID            string            `json:"clientId"`
	ClientSecretFile    string            `json:"clientSecretFile"`
	Scopes              []string          `json:"scopes"`
	Parameters          map[string]string `json:"parameters"`
	UserInfo            bool              `json:"userInfo"`
	CreateUsers         bool              `json:"createUsers"`
	LinkUsers           bool              `json:"linkUsers"`
	EmailClaim          string            `json:"emailClaim"`
	EmailDomains        []string          `json:"emailDomains"`
	AssumeEmailVerified bool              `json:"assumeEmailVerified"`
	Rules               []ruleEntry       `json:"rules"`
}

type ruleEntry struct {
	Claim        string   `json:"claim"`
	Value        string   `json:"value"`
	Company      string   `json:"company"`
	Permissions  []string `json:"permissions"`
	Groups       []int64  `json:"groups"`
	WholeCompany bool     `json:"wholeCompany"`
}

// ReadProviders reads the providers of a file in JSON. Files of secrets are named from its
// folder. publicURL is where people reach this service.
func ReadProviders(path, publicURL string) ([]*Provider, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	var file providersFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is text behind the object", path)
	}
	if len(file.Providers) == 0 || len(file.Providers) > maxProviders {
		return nil, fmt.Errorf("%s must have 1 to %d providers", path, maxProviders)
	}
	known := map[string]bool{}
	var providers []*Provider
	for n := range file.Providers {
		p, err := file.Providers[n].provider(filepath.Dir(path), publicURL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if known[p.Name] || known[p.Issuer+" "+p.Client.ID] {
			return nil, fmt.Errorf("%s: the provider %q stands there twice", path, p.Name)
		}
		known[p.Name], known[p.Issuer+" "+p.Client.ID] = true, true
		providers = append(providers, p)
	}
	return providers, nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxConfig)
	}
	return text, err
}

func (e *providerEntry) provider(folder, publicURL string) (*Provider, error) {
	p := &Provider{Provider: signin.Provider{
		Name: e.Name, Title: e.Title, Issuer: e.Issuer, CreateUsers: e.CreateUsers, LinkUsers: e.LinkUsers,
		EmailClaim: e.EmailClaim, EmailDomains: e.EmailDomains, AssumeEmailVerified: e.AssumeEmailVerified,
	}}
	if p.Title == "" {
		p.Title = p.Name
	}
	if p.EmailClaim == "" {
		p.EmailClaim = "email"
	}
	for n := range e.Rules {
		rule, err := e.Rules[n].rule()
		if err != nil {
			return nil, fmt.Errorf("rule %d of the provider %q: %w", n+1, e.Name, err)
		}
		p.Rules = append(p.Rules, *rule)
	}
	if err := errors.Join(p.Check(), domain.CheckName("title", p.Title)); err != nil {
		return nil, err
	}
	of, err := issuer.New(e.Issuer, issuer.Options{})
	if err != nil {
		return nil, fmt.Errorf("the provider %q: %w", e.Name, err)
	}
	if e.ClientID == "" {
		return nil, fmt.Errorf("the provider %q has no clientId", e.Name)
	}
	secret, err := e.secret(folder)
	p.Client = &issuer.Client{
		Issuer: of, ID: e.ClientID, Secret: secret, RedirectURL: strings.TrimSuffix(publicURL, "/") + p.path() + callbackPath,
		Scopes: e.Scopes, Parameters: e.Parameters, UserInfo: e.UserInfo,
	}
	if len(e.Scopes) == 0 {
		p.Client.Scopes = []string{"email", "profile"}
	}
	return p, err
}

// secret reads the secret of the client; "" for a public one.
func (e *providerEntry) secret(folder string) (domain.Secret, error) {
	if e.ClientSecretFile == "" {
		return "", nil
	}
	path := e.ClientSecretFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	text, err := readBounded(path)
	if err != nil {
		return "", fmt.Errorf("the secret of the provider %q: %w", e.Name, err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s holds no secret", path)
	}
	return domain.Secret(secret), nil
}

func (e *ruleEntry) rule() (*signin.Rule, error) {
	rule := &signin.Rule{Claim: e.Claim, Value: e.Value, Rights: signin.Rights{Company: e.Company, Groups: e.Groups}}
	for _, text := range e.Permissions {
		permission, err := domain.ParsePermission(text)
		if err != nil {
			return nil, err
		}
		rule.Permissions = append(rule.Permissions, permission)
	}
	if e.WholeCompany == (len(e.Groups) > 0) {
		return nil, errors.New("it needs either groups or wholeCompany")
	}
	return rule, nil
}
