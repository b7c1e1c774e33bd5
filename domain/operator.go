package domain

import (
	"context"

	"simgraph/domain/query"
)

// Operator is a mobile network operator; all companies share the list.
type Operator struct {
	// Code is the unique operator identifier, such as the PLMN "23415".
	Code string
	Name string
}

// Tariff is what a company pays for a subscriber.
type Tariff struct {
	Name string
	// LineRental is the recurring fee in the smallest unit of the currency (pence).
	LineRental int
	// Currency is the ISO 4217 code.
	Currency string
}

// Version changes with what can be edited.
func (t *Tariff) Version() string { return VersionOf(t.LineRental, t.Currency) }

// TariffCount is how many subscribers have a tariff.
type TariffCount struct {
	// Name is "" for the subscribers whose group hides it.
	Name        string
	Subscribers int
}

// Catalogue keeps operators and tariffs. Tariffs of groups that hide their
// details are not shown to the users of those groups.
type Catalogue interface {
	// Operators returns the operators that the visible subscribers use, ordered
	// by code unless the listing has another order.
	Operators(ctx context.Context, scope Scope, listing Listing) (Slice[*Operator], error)
	CountOperators(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindOperators returns those of the codes that Operators lists, by code.
	FindOperators(ctx context.Context, scope Scope, codes []string) (map[string]*Operator, error)
	// OperatorsOf answers for a batch of codes, keyed by code.
	OperatorsOf(ctx context.Context, scope Scope, codes []string) (map[string]*Operator, error)
	// Tariffs returns the tariffs of the company, ordered by name unless the listing has another order; for a
	// restricted scope those that its subscribers show.
	Tariffs(ctx context.Context, scope Scope, listing Listing) (Slice[*Tariff], error)
	CountTariffs(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindTariffs returns those of the names that Tariffs lists, by name.
	FindTariffs(ctx context.Context, scope Scope, names []string) (map[string]*Tariff, error)
	// TariffsOf answers for a batch of names, keyed by name.
	TariffsOf(ctx context.Context, scope Scope, names []string) (map[string]*Tariff, error)
	// SubscribersByTariff counts the visible subscribers by tariff, ordered by name and at
	// most limit. A scope of the whole company gets tariffs without subscribers, too.
	SubscribersByTariff(ctx context.Context, scope Scope, limit int) ([]TariffCount, error)
}

// OperatorFields are what operators can be filtered and ordered by.
var OperatorFields = query.NewFields(
	query.Field{Name: "code", Type: query.Text},
	query.Field{Name: "name", Type: query.Text},
)

// TariffFields are what tariffs can be filtered and ordered by.
var TariffFields = query.NewFields(
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "lineRental", Type: query.Integer},
	query.Field{Name: "currency", Type: query.Text},
)
