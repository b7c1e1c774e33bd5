package signin

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

// refusalPage is what people read who could not be signed in.
type refusalPage struct {
	Provider, Text, RequestID string
	// Again is where another attempt begins.
	Again string
}

const refusalStyle = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
main { max-width: 34rem; margin: 15vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.4rem }
small { opacity: .8 }
a { color: LinkText; margin-right: 1.5rem }`

var refusalTemplate = template.Must(template.New("refusal").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Not signed in · simgraph</title><style>` + refusalStyle + `</style></head>
<body><main><h1>You are not signed in</h1>
<p role="alert">{{.Text}}</p>
<p><a href="{{.Again}}">Try {{.Provider}} again</a><a href="/">Other ways to sign in</a></p>
{{with .RequestID}}<p><small>If you ask for help, name this request: {{.}}</small></p>{{end}}
</main></body></html>
`))

// refusalPolicy allows the style above and nothing else.
var refusalPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" + hashOf(refusalStyle) + "'"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func show(w http.ResponseWriter, status int, page refusalPage) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", refusalPolicy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = refusalTemplate.Execute(w, page) // the browser may be gone
}

// capital begins a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func encode(sealed []byte) string { return base64.RawURLEncoding.EncodeToString(sealed) }

// decode returns nothing for what is not encoded.
func decode(text string) []byte {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	return sealed
}
