package signin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// MaxRules bounds the rules of a provider of sign-in.
const MaxRules = 1000

// Provider is how people of an identity provider become users.
type Provider struct {
	// Name is the way of its sessions, and a part of its address; Title is what
	// people read.
	Name, Title string
	Issuer      string
	// CreateUsers is whether people who are no users yet become ones.
	CreateUsers bool
	// LinkUsers is whether a user that has never signed in at a provider is found by
	// the e-mail address.
	LinkUsers bool
	// EmailClaim is where the e-mail address stands.
	EmailClaim string
	// EmailDomains are the domains of which the provider knows the addresses; none
	// stands for all, where users are not linked.
	EmailDomains []string
	// AssumeEmailVerified is whether addresses count as verified without a claim that
	// says so.
	AssumeEmailVerified bool
	Rules               []Rule
}

// Rule gives rights to people with a claim.
type Rule struct {
	// Claim is a name, or a path into an object such as realm_access.roles; Value is
	// the claim, or one of the list that it is.
	Claim, Value string
	Rights
}

// Rights are what a person may do, in a company by its external id. No groups stand for
// the whole company.
type Rights struct {
	Company     string
	Permissions []domain.Permission
	Groups      []int64
}

// providerName is what a path and a column take as it is.
var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Check refuses a provider that is not whole.
func (p *Provider) Check() error {
	switch {
	case !providerName.MatchString(p.Name) || slices.Contains([]string{ByToken, ByLink, ByAssertion}, p.Name):
		return domain.Invalid("name", "the name of a provider has 1 to 32 of a-z, 0-9 and -, and is none of token, link and assertion: %q", p.Name)
	case len(p.Rules) == 0 || len(p.Rules) > MaxRules:
		return domain.Invalid("rules", "the provider %q needs 1 to %d rules", p.Name, MaxRules)
	case p.LinkUsers && len(p.EmailDomains) == 0:
		return domain.Invalid("emailDomains", "the provider %q links users by e-mail, and must name the domains of which it knows the addresses", p.Name)
	}
	for n := range p.Rules {
		if err := p.Rules[n].check(); err != nil {
			return domain.Invalid("rules", "rule %d of the provider %q: %s", n+1, p.Name, err)
		}
	}
	return nil
}

func (r *Rule) check() error {
	if r.Claim == "" || r.Value == "" || r.Company == "" {
		return domain.Invalid("rules", "a rule needs a claim, a value and a company")
	}
	for _, group := range r.Groups {
		if err := domain.CheckGroupID(group); err != nil {
			return err
		}
	}
	return nil
}

// RightsOf returns what a person with the claims may do: of each company what the first
// rule gives that fits, in the order of the rules. The error is a Refusal where none fits.
func (p *Provider) RightsOf(claims map[string]any) ([]Rights, error) {
	var all []Rights
	for n := range p.Rules {
		rule := &p.Rules[n]
		decided := slices.ContainsFunc(all, func(of Rights) bool { return of.Company == rule.Company })
		if !decided && p.fits(rule, claims) {
			all = append(all, rule.Rights)
		}
	}
	if len(all) == 0 {
		return nil, &Refusal{Why: RefusedRule, Message: "Nothing that " + p.Title + " says about you gives you access. Ask your administrator for it."}
	}
	return all, nil
}

func (p *Provider) fits(rule *Rule, claims map[string]any) bool {
	if rule.Claim == p.EmailClaim && !p.verified(claims) {
		return false
	}
	return slices.Contains(texts(claimAt(claims, rule.Claim)), rule.Value)
}

// EmailOf returns the e-mail address that the provider vouches for; the zero value for
// none.
func (p *Provider) EmailOf(claims map[string]any) domain.Email {
	text, _ := claimAt(claims, p.EmailClaim).(string)
	email, err := domain.ParseEmail("email", text)
	if err != nil || !p.verified(claims) {
		return domain.Email{}
	}
	of := email.Domain()
	if len(p.EmailDomains) > 0 && !slices.ContainsFunc(p.EmailDomains, func(known string) bool { return ascii.EqualFold(known, of) }) {
		return domain.Email{}
	}
	return email
}

// verified reports whether the provider says that the e-mail address was proven. Some
// write it as a text.
func (p *Provider) verified(claims map[string]any) bool {
	said, known := claims["email_verified"]
	if !known {
		return p.AssumeEmailVerified
	}
	return said == true || said == "true"
}

// claimAt returns a claim by its name, or by the path to it; nil for none.
func claimAt(claims map[string]any, path string) any {
	if value, known := claims[path]; known {
		return value
	}
	first, rest, nested := strings.Cut(path, ".")
	inner, is := claims[first].(map[string]any)
	if !nested || !is {
		return nil
	}
	return claimAt(inner, rest)
}

// texts are the values of a claim that is one or a list.
func texts(claim any) []string {
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case bool:
		return []string{strconv.FormatBool(claim)}
	case []any:
		all := make([]string, 0, len(claim))
		for _, one := range claim {
			if text, is := one.(string); is {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}
