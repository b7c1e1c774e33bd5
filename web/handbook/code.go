package handbook

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// code renders blocks of code: wide ones scroll, also by the keyboard, and one that is a
// file has its name above it, which stands after the language.
type code struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (code) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(ast.KindHTMLBlock, leaveOut)
}

// leaveOut renders no HTML of documents: they have comments for tests, and nothing else.
func leaveOut(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering && !strings.HasPrefix(string(node.Lines().Value(source)), "<!--") {
		_, _ = w.WriteString("<!-- raw HTML omitted -->")
	}
	return ast.WalkContinue, nil
}

func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	label := "Code"
	if fenced, is := node.(*ast.FencedCodeBlock); is {
		if string(fenced.Language(source)) == "text" {
			label = "Output"
		}
		if name := fileOf(fenced, source); name != "" {
			label = name
			_, _ = w.WriteString(`<p class="file"><code>` + html.EscapeString(name) + "</code></p>\n")
		}
	}
	_, err := w.WriteString(`<pre tabindex="0" role="group" aria-label="` + html.EscapeString(label) + `"><code>` +
		html.EscapeString(string(node.Lines().Value(source))) + "</code></pre>\n")
	return ast.WalkSkipChildren, err
}

// fileOf returns the name after the language; "" for none.
func fileOf(block *ast.FencedCodeBlock, source []byte) string {
	if block.Info == nil {
		return ""
	}
	_, name, _ := strings.Cut(string(block.Info.Value(source)), " ")
	return name
}
