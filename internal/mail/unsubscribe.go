package mail

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// UnsubscribePath is where UnsubscribeHandler belongs, below the public URL.
const UnsubscribePath = "/unsubscribe"

// unsubscribeLink is the address that ends mail to the recipient.
func unsubscribeLink(base *url.URL, content *domain.MailContent) string {
	company := content.Company.CompanyID
	token := fmt.Sprintf("%d.%d.%s", company, content.RecipientID,
		base64.RawURLEncoding.EncodeToString(sign(company, content.RecipientID, content.Email, content.Secret)))
	return strings.TrimSuffix(base.String(), "/") + UnsubscribePath + "?token=" + token
}

// reportEndLink is the address that ends the mails of a report to one address.
func reportEndLink(base *url.URL, content *domain.MailContent) string {
	company := content.Company.CompanyID
	token := fmt.Sprintf("%d.%s.%s", company, content.ReportID,
		base64.RawURLEncoding.EncodeToString(signReport(company, content.ReportID, content.Email, content.Secret)))
	return strings.TrimSuffix(base.String(), "/") + UnsubscribePath + "?token=" + token
}

// signReport binds a link to the address and the report.
func signReport(company domain.CompanyID, reportID, email string, secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "unsubscribe report %d %s %s", company, reportID, ascii.Lower(email))
	return mac.Sum(nil)
}

// sign binds a link to the address: it does not hold for another that the
// recipient gets later.
func sign(company domain.CompanyID, recipientID int64, email string, secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "unsubscribe %d %d %s", company, recipientID, ascii.Lower(email))
	return mac.Sum(nil)
}

// UnsubscribeHandler answers unsubscribe links. GET shows a button and does
// nothing, since mail scanners follow links; POST unsubscribes, whether it comes
// from that button or from a mail program (RFC 8058).
func UnsubscribeHandler(outbox domain.Outbox, reports Reports) http.Handler {
	return unsubscriber{outbox, reports}
}

// Reports ends the mails of reports.
type Reports interface {
	// Unsubscribe stops mail of a report to the recipient that verify accepts the address and
	// the company's secret of; again, it changes nothing.
	Unsubscribe(ctx context.Context, company domain.CompanyID, reportID string, verify func(email string, secret []byte) bool) error
}

type unsubscriber struct {
	outbox  domain.Outbox
	reports Reports
}

// ServeHTTP implements http.Handler.
func (u unsubscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		show(w, http.StatusOK, page{Text: "Stop these mails to this address?", Form: true})
	case http.MethodPost:
		u.unsubscribe(w, r)
	default:
		h.Set("Allow", "GET, HEAD, POST")
		show(w, http.StatusMethodNotAllowed, page{Text: "This address takes GET and POST."})
	}
}

func (u unsubscriber) unsubscribe(w http.ResponseWriter, r *http.Request) {
	err := u.verify(r.Context(), r.URL.Query().Get("token"))
	fault, public := domain.AsError(err)
	switch {
	case err == nil:
		show(w, http.StatusOK, page{Text: "Done: no more of these mails go to this address."})
	case public && fault.Kind == domain.KindNotFound:
		show(w, http.StatusNotFound, page{Text: "This link is not valid, or not any more."})
	default:
		show(w, http.StatusServiceUnavailable, page{Text: "This did not work. Please try again later."})
	}
}

func (u unsubscriber) verify(ctx context.Context, token string) error {
	companyText, rest, _ := strings.Cut(token, ".")
	recipientText, macText, _ := strings.Cut(rest, ".")
	company, errCompany := strconv.ParseInt(companyText, 10, 64)
	recipient, errRecipient := strconv.ParseInt(recipientText, 10, 64)
	mac, errMAC := base64.RawURLEncoding.Strict().DecodeString(macText)
	if errCompany != nil || errMAC != nil {
		return domain.NotFound("token", "recipient", "")
	}
	if errRecipient != nil { // a report has a UUID
		return u.reports.Unsubscribe(ctx, domain.CompanyID(company), recipientText, func(email string, secret []byte) bool {
			return hmac.Equal(mac, signReport(domain.CompanyID(company), recipientText, email, secret))
		})
	}
	return u.outbox.Unsubscribe(ctx, domain.CompanyID(company), recipient, func(email string, secret []byte) bool {
		return hmac.Equal(mac, sign(domain.CompanyID(company), recipient, email, secret))
	})
}

type page struct {
	Text string
	// Form shows the button.
	Form bool
}

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mails</title></head>
<body><p>{{.Text}}</p>{{if .Form}}<form method="post"><button>Unsubscribe</button></form>{{end}}</body></html>
`))

func show(w http.ResponseWriter, status int, p page) {
	w.WriteHeader(status)
	_ = pageTemplate.Execute(w, p) // the client may be gone
}
