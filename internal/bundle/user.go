package bundle

import "simgraph/domain"

type userRecord struct {
	Type        Type     `json:"type"`
	Company     *string  `json:"company"`
	Email       *string  `json:"email"`
	Permissions []string `json:"permissions"`
	Groups      []int64  `json:"groups"`
	Disabled    *bool    `json:"disabled,omitzero"`
}

// newUserRecord writes permissions as the spec names them, and disabled only
// where it is true.
func newUserRecord(company string, u *domain.UserImport) *userRecord {
	r := &userRecord{Type: User, Company: &company, Email: &u.Email, Groups: u.Groups}
	for _, p := range u.Permissions {
		r.Permissions = append(r.Permissions, p.Label())
	}
	if u.Disabled {
		r.Disabled = &u.Disabled
	}
	return r
}

func (r *userRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	u := &domain.UserImport{
		User:         domain.User{Email: need(&f, "email", r.Email), Groups: r.Groups, Disabled: either(r.Disabled, false)},
		KeepDisabled: r.Disabled == nil,
	}
	return Item{Company: company, Value: u}, f.check(func() error {
		for _, text := range r.Permissions {
			p, err := domain.ParsePermission(text)
			if err != nil {
				return err
			}
			u.Permissions = append(u.Permissions, p)
		}
		return u.Check()
	})
}
