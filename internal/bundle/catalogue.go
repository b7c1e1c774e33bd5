package bundle

import "simgraph/domain"

type companyRecord struct {
	Type       Type    `json:"type"`
	ID         *string `json:"id"`
	Name       *string `json:"name"`
	BillingDay *int    `json:"billingDay"`
	TimeZone   *string `json:"timeZone"`
	Country    *string `json:"country"`
}

func newCompanyRecord(_ string, c *domain.Company) *companyRecord {
	return &companyRecord{Company, &c.ExternalID, &c.Name, &c.BillingDay, &c.TimeZone, unlessEmpty(c.CountryCode)}
}

func (r *companyRecord) item() (Item, error) {
	var f fields
	c := &domain.Company{
		ExternalID: need(&f, "id", r.ID), Name: need(&f, "name", r.Name),
		BillingDay: either(r.BillingDay, 1), TimeZone: either(r.TimeZone, "UTC"), CountryCode: either(r.Country, ""),
	}
	return Item{Company: c.ExternalID, Value: c}, f.check(c.Check)
}

type operatorRecord struct {
	Type Type    `json:"type"`
	Code *string `json:"code"`
	Name *string `json:"name"`
}

func newOperatorRecord(_ string, o *domain.Operator) *operatorRecord {
	return &operatorRecord{Operator, &o.Code, &o.Name}
}

func (r *operatorRecord) item() (Item, error) {
	var f fields
	o := &domain.Operator{Code: need(&f, "code", r.Code), Name: need(&f, "name", r.Name)}
	return Item{Value: o}, f.check(o.Check)
}

type tariffRecord struct {
	Type       Type    `json:"type"`
	Company    *string `json:"company"`
	Name       *string `json:"name"`
	LineRental *int    `json:"lineRental"`
	Currency   *string `json:"currency"`
}

func newTariffRecord(company string, t *domain.Tariff) *tariffRecord {
	return &tariffRecord{Tariff, &company, &t.Name, &t.LineRental, &t.Currency}
}

func (r *tariffRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	t := &domain.Tariff{
		Name: need(&f, "name", r.Name), LineRental: need(&f, "lineRental", r.LineRental), Currency: need(&f, "currency", r.Currency),
	}
	return Item{Company: company, Value: t}, f.check(t.Check)
}

type groupRecord struct {
	Type              Type    `json:"type"`
	Company           *string `json:"company"`
	ID                *int64  `json:"id"`
	Name              *string `json:"name"`
	HideTariffDetails *bool   `json:"hideTariffDetails"`
}

func newGroupRecord(company string, g *domain.Group) *groupRecord {
	return &groupRecord{Group, &company, &g.GroupID, &g.Name, &g.HideTariffDetails}
}

func (r *groupRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	g := &domain.Group{
		GroupID: need(&f, "id", r.ID), Name: need(&f, "name", r.Name), HideTariffDetails: either(r.HideTariffDetails, false),
	}
	return Item{Company: company, Value: g}, f.check(g.Check)
}
