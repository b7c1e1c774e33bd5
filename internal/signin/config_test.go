package signin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/signin"
)

const goodConfig = `{"providers": [{
  "name": "acme", "title": "Acme SSO", "issuer": "https://login.example/realms/acme", "clientId": "simgraph", "clientSecretFile": "acme.secret",
  "createUsers": true, "linkUsers": true, "emailDomains": ["acme.example"], "parameters": {"prompt": "select_account"},
  "rules": [
    {"claim": "groups", "value": "admins", "company": "acme", "permissions": ["View Subscriber", "VIEW_A_USERS_DETAILS"], "wholeCompany": true},
    {"claim": "groups", "value": "vans", "company": "acme", "permissions": ["View Subscriber"], "groups": [7]}
  ]}]}`

func read(t *testing.T, text string) (*signin.Trusted, error) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "providers.json")
	for name, content := range map[string]string{path: text, filepath.Join(folder, "acme.secret"): "s3cret\n", filepath.Join(folder, "empty.secret"): "\n"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return signin.ReadTrusted(path, "https://sim.example/")
}

func TestProvidersAreReadFromAFile(t *testing.T) {
	t.Parallel()
	all, err := read(t, goodConfig)
	if err != nil || len(all.Providers) != 1 {
		t.Fatal(all, err)
	}
	p := all.Providers[0]
	if p.Client.RedirectURL != "https://sim.example/signin/acme/callback" || p.Client.Secret != "s3cret" || p.EmailClaim != "email" ||
		!slices.Equal(p.Client.Scopes, []string{"email", "profile"}) || !slices.Equal(p.Rules[1].Groups, []int64{7}) ||
		!slices.Equal(p.Rules[0].Permissions, []domain.Permission{domain.ViewSubscriber, domain.ViewUserDetails}) {
		t.Errorf("got %+v, %+v", p.Provider, p.Client)
	}
}

// jsonOf finds the examples of a document.
var jsonOf = regexp.MustCompile("(?s)```json\n(.*?)```")

func TestTheExamplesOfTheDocumentsAreTaken(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/sign-in.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := jsonOf.FindAllStringSubmatch(string(text), -1)
	if len(examples) != 7 {
		t.Fatalf("%d examples", len(examples))
	}
	secret := regexp.MustCompile(`"[a-z]+\.secret"`)
	for _, match := range examples {
		example := secret.ReplaceAllString(match[1], `"acme.secret"`)
		if !strings.Contains(example, `"providers"`) && !strings.Contains(example, `"machines"`) {
			example = `{"providers": [` + example + `]}`
		}
		if _, err := read(t, example); err != nil {
			t.Errorf("%v in %s", err, example)
		}
	}
}

func TestAFileThatIsNotWholeIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":              "providers:",
		"no providers":         `{"providers": []}`,
		"a field too many":     strings.Replace(goodConfig, `"title"`, `"titel"`, 1),
		"text behind":          goodConfig + "x",
		"no client":            strings.Replace(goodConfig, `"simgraph"`, `""`, 1),
		"no such secret":       strings.Replace(goodConfig, "acme.secret", "other.secret", 1),
		"an empty secret":      strings.Replace(goodConfig, "acme.secret", "empty.secret", 1),
		"an issuer in clear":   strings.Replace(goodConfig, "https://login", "http://login", 1),
		"an unknown right":     strings.Replace(goodConfig, "VIEW_A_USERS_DETAILS", "VIEW_EVERYTHING", 1),
		"no groups":            strings.Replace(goodConfig, `"groups": [7]`, `"groups": []`, 1),
		"both":                 strings.Replace(goodConfig, `"groups": [7]`, `"groups": [7], "wholeCompany": true`, 1),
		"links of any address": strings.Replace(goodConfig, `"acme.example"`, ``, 1),
		"a provider twice":     strings.Replace(goodConfig, `{"providers": [`, `{"providers": [`+strings.TrimSuffix(strings.TrimPrefix(goodConfig, `{"providers": [`), `]}`)+",", 1),
	} {
		if all, err := read(t, text); err == nil {
			t.Errorf("%s: %v", name, all)
		}
	}
	if _, err := signin.ReadTrusted(filepath.Join(t.TempDir(), "none.json"), "https://sim.example"); err == nil {
		t.Error("a file that is not there is read")
	}
}

// texts calls do with the path of each text in a value of JSON, and with how to set it.
func texts(value any, path string, set func(string), do func(path, was string, set func(string))) {
	switch of := value.(type) {
	case string:
		do(path, of, set)
	case []any:
		for i := range of {
			texts(of[i], path+"[]", func(text string) { of[i] = text }, do)
		}
	case map[string]any:
		for key := range of {
			texts(of[key], path+"."+key, func(text string) { of[key] = text }, do)
		}
	}
}

// anyText are the texts that may have any characters, and what becomes of them.
var anyText = map[string]string{
	".providers[].emailDomains[]": "compared with an address",
	".providers[].clientId":       "escaped in addresses", ".providers[].parameters.prompt": "escaped in addresses",
	".providers[].rules[].claim": "compared with a token", ".providers[].rules[].value": "compared with a token", ".providers[].rules[].company": "looked up",
	".machines[].subject": "compared with a token", ".machines[].audience": "compared with a token",
}

// Each text of the file refuses a line break: it would stand in pages, logs and addresses.
func TestNoTextOfTheFileHasTwoLines(t *testing.T) {
	t.Parallel()
	var file map[string]any
	fatal.If(t, json.Unmarshal([]byte(strings.TrimSuffix(goodConfig, "}")+", "+goodMachines+"}"), &file))
	texts(file, "", nil, func(path, was string, set func(string)) {
		set(was + "\nx")
		changed, err := json.Marshal(file)
		fatal.If(t, err)
		if _, err := read(t, string(changed)); (err == nil) != (anyText[path] != "") {
			t.Errorf("%s: got the error %v", path, err)
		}
		set(was)
	})
}

const goodMachines = `"machines": [
  {"issuer": "https://login.example/realms/acme", "subject": "deployer", "audience": "https://sim.example", "user": "Robot@acme.example", "scopes": ["View Subscriber"]},
  {"issuer": "https://ci.example", "subject": "repo:acme/fleet", "audience": "https://sim.example", "user": "robot@acme.example", "scopes": ["VIEW_SUBSCRIBER"]}]`

func TestMachinesAreReadFromTheFileOfProviders(t *testing.T) {
	t.Parallel()
	both, err := read(t, strings.TrimSuffix(goodConfig, "}")+", "+goodMachines+"}")
	if err != nil || len(both.Machines) != 2 || len(both.Providers) != 1 {
		t.Fatal(both, err)
	}
	m := both.Machines[0]
	if m.User.String() != "robot@acme.example" || !slices.Equal(m.Scopes, []domain.Permission{domain.ViewSubscriber}) || m.By != both.Providers[0].Client.Issuer {
		t.Errorf("got %+v", m)
	}
	if alone, err := read(t, "{"+goodMachines+"}"); err != nil || len(alone.Providers) != 0 {
		t.Error("machines alone are refused", err)
	}
	for name, change := range map[string][2]string{
		"no subject":            {`"deployer"`, `""`},
		"no scopes":             {`["VIEW_SUBSCRIBER"]`, `[]`},
		"an unknown scope":      {"VIEW_SUBSCRIBER", "VIEW_EVERYTHING"},
		"no user":               {"robot@acme.example", "robot"},
		"an issuer in clear":    {"https://ci", "http://ci"},
		"the client of people":  {`"audience": "https://sim.example"`, `"audience": "simgraph"`},
		"a machine twice":       {`"https://ci.example", "subject": "repo:acme/fleet"`, `"https://login.example/realms/acme", "subject": "deployer"`},
		"a field that is wrong": {`"user": "robot`, `"email": "robot`},
	} {
		text := strings.TrimSuffix(goodConfig, "}") + ", " + strings.Replace(goodMachines, change[0], change[1], 1) + "}"
		if all, err := read(t, text); err == nil {
			t.Errorf("%s: %v", name, all)
		}
	}
}

func TestASecretThatOthersCanReadIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, secret := filepath.Join(folder, "providers.json"), filepath.Join(folder, "acme.secret")
	for name, content := range map[string]string{path: goodConfig, secret: "s3cret"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for mode, taken := range map[os.FileMode]bool{0o600: true, 0o640: true, 0o644: false, 0o602: false} {
		if err := os.Chmod(secret, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := signin.ReadTrusted(path, "https://sim.example/"); (err == nil) != taken || !taken && !strings.Contains(err.Error(), "chmod o= "+secret) {
			t.Errorf("%o: %v", mode, err)
		}
	}
}
