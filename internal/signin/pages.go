package signin

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"

	"simgraph/domain/ascii"
)

// refusalPage is what people read who could not be signed in.
type refusalPage struct {
	Provider, Text, RequestID string
	// Again is where another attempt begins.
	Again string
}

const pageStyle = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; color: light-dark(#17202a, #e6eaee); background: light-dark(#f5f7f9, #12171c) }
body { min-height: 100vh; margin: 0; display: grid; place-items: center }
main { box-sizing: border-box; width: min(460px, 100% - 32px); padding: 32px; border: 1px solid light-dark(#dde3e8, #2a323a); border-radius: 16px; background: light-dark(#fff, #1a2026) }
h1 { margin: 0; font-size: 22px }
a, button { box-sizing: border-box; display: block; width: 100%; margin-top: 10px; padding: 10px 14px; border: 1px solid light-dark(#8a96a1, #66727d); border-radius: 8px;
  background: none; color: inherit; font: inherit; text-align: center; text-decoration: none; overflow-wrap: anywhere; cursor: pointer }
p + a { border-color: #0f766e; background: #0f766e; color: #fff }
small { color: light-dark(#4f5b66, #a9b4be); overflow-wrap: anywhere }`

var refusalTemplate = template.Must(template.New("refusal").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Not signed in · simgraph</title><style>` + pageStyle + `</style></head>
<body><main><h1>You are not signed in</h1>
<p role="alert">{{.Text}}</p>
<a href="{{.Again}}">Try {{.Provider}} again</a>
<a href="/">Other ways to sign in</a>
{{with .RequestID}}<p><small>If you ask for help, name this request: {{.}}</small></p>{{end}}
</main></body></html>
`))

// pagePolicy allows the style above, forms to this server, and nothing else.
var pagePolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; style-src 'sha256-" + hashOf(pageStyle) + "'"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// show answers with a page. Its forms say whose they are: with a referrer policy of
// no-referrer browsers send "null" as their Origin.
func show(w http.ResponseWriter, status int, page *template.Template, of any) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = page.Execute(w, of) // the browser may be gone
}

// capital begins a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return ascii.Upper(text[:1]) + text[1:]
}
