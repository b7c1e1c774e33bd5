package command

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/web"
)

// page returns the handlers of the page for people by their exact paths. In
// demo mode it offers a token of the demo company to browsers of this machine.
func (s *Serve) page(pool *sqlx.DB) (map[string]http.Handler, error) {
	files, err := web.Files()
	if err != nil {
		return nil, err
	}
	var demo web.DemoToken
	if s.Demo {
		demo = func(ctx context.Context) (string, time.Time, error) {
			grant, err := issueDemoToken(ctx, pool)
			if err != nil {
				return "", time.Time{}, err
			}
			return string(grant.Token), grant.ExpiresAt, nil
		}
	}
	maps.Copy(files, web.Offers(demo))
	return files, nil
}
