package signin

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
)

const (
	// choiceTime is how long people may take to choose a company.
	choiceTime = 5 * time.Minute
	// maxChoice bounds the form: the rights in each company stand in it.
	maxChoice = 1 << 20
)

// choice is a sign-in that several companies would take. The form of the page holds it,
// sealed for the browser's cookie, so that neither a table nor another browser has it.
type choice struct {
	// Subject, Email, State and RefreshToken are those of the login.
	Subject, Email      string
	State, RefreshToken domain.Secret
	Offers              []signin.Offer
	// Former and Place are those of the flow.
	Former  domain.Secret
	Place   string
	AskedAt time.Time
}

func newChoice(login *signin.Login, offers []signin.Offer, begun *flow) *choice {
	return &choice{
		Subject: login.Subject, Email: login.Email.String(), State: login.State, RefreshToken: login.RefreshToken,
		Offers: offers, Former: begun.Former, Place: begun.Place,
	}
}

// login is the sign-in to one of the companies.
func (c *choice) login(p *Provider, offer signin.Offer) *signin.Login {
	email, _ := domain.ParseEmail("email", c.Email) // "" where the provider vouches for none
	return &signin.Login{
		Identity: signin.Identity{Issuer: p.Issuer, Subject: c.Subject}, Provider: p.Name, Email: email, Create: p.CreateUsers, Link: p.LinkUsers,
		Rights: offer.Rights, State: c.State, RefreshToken: c.RefreshToken,
		// Whichever company is chosen, the form counts once.
		SpentIn: c.Offers[0].CompanyID,
	}
}

// choiceSealedFor keeps a form from counting for another provider or browser.
func (p *Provider) choiceSealedFor(cookie string) []byte {
	return []byte("choice " + cookie + " " + p.Name + " " + p.Issuer)
}

// choicePage is what people read who may sign in to several companies.
type choicePage struct {
	Provider, Action, Sealed string
	Offers                   []signin.Offer
}

var choiceTemplate = template.Must(template.New("choice").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Choose a company · simgraph</title><style>` + pageStyle + `</style></head>
<body><main><h1>Choose a company</h1>
<p>{{.Provider}} gives you access to several companies. Which do you want to sign in to?</p>
<form method="post" action="{{.Action}}"><input type="hidden" name="form" value="{{.Sealed}}">
{{range $n, $offer := .Offers}}<button name="company" value="{{$n}}">{{$offer.Name}}</button>
{{end}}</form>
<a href="/">Other ways to sign in</a>
</main></body></html>
`))

// ask answers with the companies that fit.
func (h *Handler) ask(w http.ResponseWriter, r *http.Request, p *Provider, asked *choice) {
	asked.AskedAt = h.Now()
	cookie := rand.Text()
	sealed, err := h.seal(asked, p.choiceSealedFor(cookie))
	if err != nil {
		h.turnAway(w, r, p, err, asked.Subject)
		return
	}
	h.setFlow(w, r, cookie, int(choiceTime.Seconds()))
	show(w, http.StatusOK, choiceTemplate, choicePage{p.Title, p.path() + companyPath, sealed, asked.Offers})
}

// choose signs in to the company that was chosen.
func (h *Handler) choose(p *Provider) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			h.refuseMethod(w, r, "POST")
			return
		}
		asked, offer, err := h.chosen(w, r, p)
		if err != nil {
			h.turnAway(w, r, p, err, "")
			return
		}
		h.setFlow(w, r, "", -1)
		h.enter(w, r, p, asked.login(p, *offer), asked.Former, asked.Place)
	}
}

// chosen reads the form. What does not stand in the form that this browser got chooses
// nothing.
func (h *Handler) chosen(w http.ResponseWriter, r *http.Request, p *Provider) (*choice, *signin.Offer, error) {
	unknown := &signin.Refusal{Why: signin.RefusedAnswer, Message: "This browser was not asked for this company, or was asked too long ago. Sign in again."}
	cookie := h.flowOf(r)
	if cookie == "" || !h.Sessions.IsPage(r) {
		return nil, nil, unknown
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxChoice)
	asked := &choice{}
	if !h.open(r.PostFormValue("form"), p.choiceSealedFor(cookie), asked) || h.Now().After(asked.AskedAt.Add(choiceTime)) {
		return nil, nil, unknown
	}
	n, err := strconv.ParseUint(r.PostFormValue("company"), 10, 31)
	if err != nil || n >= uint64(len(asked.Offers)) {
		return nil, nil, unknown
	}
	return asked, &asked.Offers[n], nil
}
