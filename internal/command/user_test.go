package command_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

func TestCommandsThatTakeAUserTakeTheCompany(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	fatal.If(t, err)
	found := 0
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			of, is := node.(*ast.StructType)
			if !is {
				return true
			}
			flags := map[string]string{}
			for _, field := range of.Fields.List {
				if field.Tag != nil && len(field.Names) == 1 {
					flags[field.Names[0].Name] = field.Tag.Value
				}
			}
			if strings.Contains(flags["User"], `placeholder:"EMAIL"`) {
				found++
				if !strings.Contains(flags["Company"], `placeholder:"ID"`) {
					t.Errorf("%s: a command takes --user and not --company", path)
				}
			}
			return true
		})
	}
	if found < 5 {
		t.Errorf("only %d commands were found", found)
	}
}

func TestAUserOfTwoCompaniesIsNamedWithTheCompany(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	const email = "ops@acme.example"
	for _, company := range []string{"acme", "rival"} {
		fatal.If(t, (&command.CompanyCreate{ID: company, Name: company, BillingDay: 1, TimeZone: "UTC"}).Run(t.Context(), c.env))
	}
	for n, company := range []string{"acme", "rival"} {
		fatal.If(t, (&command.UserCreate{Email: email, Company: company}).Run(t.Context(), c.env))
		for name, run := range map[string]func(company string) error{
			"token": func(company string) error {
				return (&command.Token{User: email, Company: company, TTL: time.Hour}).Run(t.Context(), c.env)
			},
			"login-link": func(company string) error {
				return (&command.LoginLink{User: email, Company: company, TTL: time.Hour, PublicURL: "http://127.0.0.1"}).Run(t.Context(), c.env)
			},
			"key create": func(company string) error {
				return (&command.KeyCreate{User: email, Company: company, TTL: time.Hour}).Run(t.Context(), c.env)
			},
			"session end": func(company string) error {
				return (&command.SessionEnd{User: email, Company: company}).Run(t.Context(), c.env)
			},
		} {
			if err := run(company); err != nil {
				t.Errorf("%s in %s: %v", name, company, err)
			}
			err := run("")
			fault, is := domain.AsError(err)
			if ambiguous := is && fault.Field == "company"; n == 0 && err != nil || n == 1 && !ambiguous {
				t.Errorf("%s with %d such users: %v", name, n+1, err)
			}
		}
	}
	if err := (&command.SessionEnd{User: email, All: true}).Run(t.Context(), c.env); err != nil {
		t.Errorf("session end in all companies: %v", err)
	}
}
