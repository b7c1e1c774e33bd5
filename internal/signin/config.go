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
	Machines  []machineEntry  `json:"machines"`
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

type machineEntry struct {
	Issuer   string   `json:"issuer"`
	Subject  string   `json:"subject"`
	Audience string   `json:"audience"`
	User     string   `json:"user"`
	Company  string   `json:"company"`
	Scopes   []string `json:"scopes"`
}

// Trusted are the providers and machines of the file of --oidc-config.
type Trusted struct {
	// Providers sign in people.
	Providers []*Provider
	// Machines are programs, with the issuers that speak for them.
	Machines []*Machine
}

// ReadTrusted reads providers and machines of a file in JSON. Files of secrets are named
// from its folder. publicURL is where people reach this service.
func ReadTrusted(path, publicURL string) (*Trusted, error) {
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
	if len(file.Providers)+len(file.Machines) == 0 || len(file.Providers) > maxProviders || len(file.Machines) > signin.MaxMachines {
		return nil, fmt.Errorf("%s must have providers, at most %d, or machines, at most %d", path, maxProviders, signin.MaxMachines)
	}
	var trusted Trusted
	if trusted.Providers, err = file.providers(filepath.Dir(path), publicURL); err == nil {
		trusted.Machines, err = file.machines(trusted.Providers)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &trusted, nil
}

func (f *providersFile) providers(folder, publicURL string) ([]*Provider, error) {
	known := map[string]bool{}
	var providers []*Provider
	for n := range f.Providers {
		p, err := f.Providers[n].provider(folder, publicURL)
		if err != nil {
			return nil, err
		}
		if known[p.Name] || known[p.Issuer+" "+p.Client.ID] {
			return nil, fmt.Errorf("the provider %q stands there twice", p.Name)
		}
		known[p.Name], known[p.Issuer+" "+p.Client.ID] = true, true
		providers = append(providers, p)
	}
	return providers, nil
}

// machines shares issuers with the providers, so that keys are read once.
func (f *providersFile) machines(providers []*Provider) ([]*Machine, error) {
	issuers, clients := map[string]*issuer.Issuer{}, map[signin.Identity]bool{}
	for _, p := range providers {
		issuers[p.Issuer] = p.Client.Issuer
		clients[signin.Identity{Issuer: p.Issuer, Subject: p.Client.ID}] = true
	}
	known := map[machineKey]bool{}
	machines := make([]*Machine, 0, len(f.Machines))
	for n := range f.Machines {
		m, err := f.Machines[n].machine(issuers)
		if err != nil {
			return nil, fmt.Errorf("machine %d: %w", n+1, err)
		}
		key := machineKey{m.Identity, m.Audience}
		switch {
		case known[key]:
			return nil, fmt.Errorf("machine %d stands there twice", n+1)
		case clients[signin.Identity{Issuer: m.Issuer, Subject: m.Audience}]:
			return nil, fmt.Errorf("machine %d: the audience is the client that people sign in by, whose ID tokens are no credentials of programs", n+1)
		}
		known[key] = true
		machines = append(machines, m)
	}
	return machines, nil
}

type machineKey struct {
	signin.Identity
	audience string
}

func (e *machineEntry) machine(issuers map[string]*issuer.Issuer) (*Machine, error) {
	user, err := domain.ParseEmail("user", e.User)
	if err != nil {
		return nil, err
	}
	m := &Machine{Machine: signin.Machine{
		Identity: signin.Identity{Issuer: e.Issuer, Subject: e.Subject}, Audience: e.Audience, User: user, Company: e.Company,
	}}
	if m.Scopes, err = permissions(e.Scopes); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.By = issuers[e.Issuer]; m.By == nil {
		m.By, err = issuer.New(e.Issuer, issuer.Options{})
		issuers[e.Issuer] = m.By
	}
	return m, err
}

func permissions(texts []string) (all []domain.Permission, err error) {
	for _, text := range texts {
		permission, err := domain.ParsePermission(text)
		if err != nil {
			return nil, err
		}
		all = append(all, permission)
	}
	return all, nil
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
	info, err := os.Stat(path)
	if err == nil && info.Mode()&0o007 != 0 {
		return "", fmt.Errorf("the secret of the provider %q: every account of this machine may use %s: chmod o= %s", e.Name, path, path)
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
	held, err := permissions(e.Permissions)
	if err != nil {
		return nil, err
	}
	rule := &signin.Rule{Claim: e.Claim, Value: e.Value, Rights: signin.Rights{Company: e.Company, Permissions: held, Groups: e.Groups}}
	if e.WholeCompany == (len(e.Groups) > 0) {
		return nil, errors.New("it needs either groups or wholeCompany")
	}
	return rule, nil
}
