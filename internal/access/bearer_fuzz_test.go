package access

import (
	"net/http"
	"strings"
	"testing"

	"simgraph/domain"
)

func FuzzBearer(f *testing.F) {
	for _, header := range []string{"Bearer x", "bearer  x ", "Bearer", "Bearer ", "Basic x", "Bearer a b", "Bearer a\tb", "", " ", "Bearer\tx", "Bearer \x00"} {
		f.Add(header, false)
	}
	f.Add("Bearer x", true)
	f.Fuzz(func(t *testing.T, header string, twice bool) {
		values := http.Header{"Authorization": {header}}
		if twice {
			values.Add("Authorization", header)
		}
		token, err := bearer(values)
		if err != nil {
			if _, public := domain.AsError(err); !public {
				t.Errorf("%q: %v", header, err)
			}
			if header != "" && len(header) > 20 && strings.Contains(err.Error(), header) {
				t.Errorf("%q is in the error", header)
			}
			return
		}
		if twice || token == "" || strings.ContainsAny(string(token), " \t") || !strings.HasSuffix(strings.TrimSpace(header), string(token)) {
			t.Errorf("%q has the token %q", header, string(token))
		}
	})
}
