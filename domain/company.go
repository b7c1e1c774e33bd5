package domain

import (
	"context"
	"errors"
	"fmt"
)

// Company is the tenant: the account holder whose fleet simgraph keeps.
type Company struct {
	CompanyID CompanyID
	// ExternalID is the name that bundles and commands use, such as "acme".
	ExternalID string
	Name       string
	// BillingDay (1 to 31) and TimeZone (IANA) anchor the billing period.
	BillingDay int
	TimeZone   string
	// CountryCode is that of ISO 3166-1, such as GB, whose national numbers are read as
	// MSISDNs; "" for none.
	CountryCode string
}

// Country is the country of CountryCode; nil for none.
func (c *Company) Country() *Country { return countriesByCode()[c.CountryCode] }

// Billing returns the company's billing calendar. The store holds checked
// values only, so what cannot be read means the default: calendar months, UTC.
func (c *Company) Billing() Billing {
	b, err := NewBilling(c.BillingDay, c.TimeZone)
	if err != nil {
		b, _ = NewBilling(1, "UTC")
	}
	return b
}

// Companies keeps the tenants.
type Companies interface {
	// Find returns the company of the scope.
	Find(ctx context.Context, scope Scope) (*Company, error)
	// FindExternal returns the company with that external id.
	FindExternal(ctx context.Context, externalID string) (*Company, error)
	// List returns every company, ordered by external id; for the operator's
	// commands, never for a caller of the graph.
	List(ctx context.Context) ([]*Company, error)
}

// TryCompanies does something for one company after the other, until ctx ends.
// What goes wrong with one does not hold up the others: the error contains all.
func TryCompanies(ctx context.Context, companies []CompanyID, try func(CompanyID) error) error {
	var failures []error
	for _, company := range companies {
		if err := try(company); err != nil {
			failures = append(failures, fmt.Errorf("company %d: %w", company, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failures...)
}
