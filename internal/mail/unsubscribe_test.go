package mail_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/mail"
)

func TestOnlyPostUnsubscribes(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.round(sent)
	found := link.FindStringSubmatch(strings.ReplaceAll(server.mails()[0].Data, "\r\n ", " "))
	if found == nil {
		t.Fatalf("no link in\n%s", server.mails()[0].Data)
	}
	handler := mail.UnsubscribeHandler(f.outbox, f.reports)
	request := func(method, target string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader("List-Unsubscribe=One-Click")))
		return w.Code
	}
	suppressed := func() bool {
		r, err := f.recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
		fatal.If(f.t, err)
		return r.Items[0].SuppressedSince != nil
	}
	forged := found[1][:len(found[1])-2] + "AA"
	for _, try := range []struct {
		method, target string
		status         int
		suppressed     bool
	}{
		{"GET", found[1], http.StatusOK, false},
		{"HEAD", found[1], http.StatusOK, false},
		{"PUT", found[1], http.StatusMethodNotAllowed, false},
		{"POST", forged, http.StatusNotFound, false},
		{"POST", "/unsubscribe", http.StatusNotFound, false},
		{"POST", "/unsubscribe?token=1.999.AA", http.StatusNotFound, false},
		{"POST", found[1], http.StatusOK, true},
		{"POST", found[1], http.StatusOK, true},
	} {
		if status := request(try.method, try.target); status != try.status || suppressed() != try.suppressed {
			t.Errorf("%s %s: status %d, suppressed %t", try.method, try.target, status, suppressed())
		}
	}
	r, err := f.recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
	fatal.If(f.t, err)
	_, err = f.recipients.Edit(t.Context(), scope, r.Items[0].RecipientID, domain.RecipientEdit{Email: new("other@acme.example")})
	fatal.If(f.t, err)
	if status := request("POST", found[1]); status != http.StatusNotFound || suppressed() {
		t.Errorf("the link holds for another address: status %d", status)
	}
}
