// Package handbook turns the documents of docs/ into pages: text with anchors, a list of
// contents, and sections to search.
package handbook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// Root is below which the pages stand.
	Root = "/docs/"
	// Front is the document that lists the others, in groups.
	Front = "handbook"
)

// Page is a document.
type Page struct {
	// Name is that of the document without its ending, such as graphql or decisions/0020-….
	Name  string
	Title string
	// HTML is the text, whose headings have ids as anchors.
	HTML     string
	Sections []Section
}

// Section is what stands below a heading, up to the next.
type Section struct {
	// Address is that of the heading, such as /docs/graphql#filters.
	Address string `json:"address"`
	// Document is the title of the page, and Heading is that of the section; the first section of a page has its title.
	Document string `json:"document"`
	Heading  string `json:"heading"`
	Text     string `json:"text"`
}

// Group is a part of the contents.
type Group struct {
	Name  string
	Pages []*Page
}

// Handbook is all documents.
type Handbook struct {
	Pages    map[string]*Page
	Contents []Group
}

// Names returns the names of the documents.
func Names(documents fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(documents, ".", func(file string, entry fs.DirEntry, err error) error {
		if name, is := strings.CutSuffix(file, ".md"); is && err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// Read reads the documents.
func Read(documents fs.FS) (*Handbook, error) {
	names, err := Names(documents)
	if err != nil {
		return nil, err
	}
	h := &Handbook{Pages: map[string]*Page{}}
	var contents []listed
	for _, name := range names {
		source, err := fs.ReadFile(documents, name+".md")
		if err != nil {
			return nil, err
		}
		root := markdown.Parser().Parse(text.NewReader(source))
		if name == Front {
			contents = readContents(root, source)
		}
		page, err := newPage(name, root, source, documents)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		h.Pages[name] = page
	}
	for _, group := range contents {
		of := Group{Name: group.name}
		for _, name := range group.documents {
			if page := h.Pages[name]; page != nil {
				of.Pages = append(of.Pages, page)
			}
		}
		h.Contents = append(h.Contents, of)
	}
	return h, nil
}

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Linkify),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(code{}, 100))),
)

// emptyHeader is a column without a name, which is no header for those who cannot see.
var emptyHeader = regexp.MustCompile(`<th( [^>]*)?></th>`)

func newPage(name string, root ast.Node, source []byte, documents fs.FS) (*Page, error) {
	page := &Page{Name: name}
	page.read(root, source)
	relink(name, root)
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, source, root); err != nil {
		return nil, err
	}
	drawn, err := draw(path.Dir(name), html.String(), documents)
	if err != nil {
		return nil, err
	}
	// Wide tables scroll, also by the keyboard.
	page.HTML = strings.NewReplacer(
		"<table>", `<div class="wide" role="group" tabindex="0" aria-label="Table"><table>`, "</table>", "</table></div>",
	).Replace(emptyHeader.ReplaceAllString(drawn, "<td$1></td>"))
	return page, nil
}

// picture is a paragraph that is a picture.
var picture = regexp.MustCompile(`<p><img src="([^"]+\.svg)" alt="([^"]*)"></p>`)

// draw puts the pictures of a document into its text: only there do they follow the theme
// that the reader chose. Wide ones scroll, as tables do.
func draw(folder, html string, documents fs.FS) (string, error) {
	var failed error
	drawn := picture.ReplaceAllStringFunc(html, func(image string) string {
		of := picture.FindStringSubmatch(image)
		svg, err := fs.ReadFile(documents, path.Join(folder, of[1]))
		failed = errors.Join(failed, err)
		return `<div class="wide picture" role="group" tabindex="0" aria-label="` + of[2] + `">` + string(svg) + "</div>"
	})
	return drawn, failed
}

// read finds the title and the sections.
func (p *Page) read(root ast.Node, source []byte) {
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		if heading, is := node.(*ast.Heading); is {
			p.begin(heading, source)
		} else if n := len(p.Sections); n > 0 {
			section := &p.Sections[n-1]
			section.Text = strings.TrimSpace(section.Text + " " + plain(node, source))
		}
	}
}

func (p *Page) begin(heading *ast.Heading, source []byte) {
	name := plain(heading, source)
	section := Section{Address: Root + p.Name, Heading: name}
	if p.Title == "" {
		p.Title = name
	} else if id, has := heading.AttributeString("id"); has {
		section.Address += fmt.Sprintf("#%s", id)
	}
	section.Document = p.Title
	p.Sections = append(p.Sections, section)
}

// plain returns the text of a node without marks.
func plain(node ast.Node, source []byte) string {
	var words strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.Text:
			if entering {
				words.Write(node.Segment.Value(source))
				if node.SoftLineBreak() {
					words.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				words.Write(node.Value)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				words.Write(node.Lines().Value(source))
			}
		}
		if !entering && node.Type() == ast.TypeBlock {
			words.WriteByte(' ')
		}
		return ast.WalkContinue, nil // no callback fails
	})
	return strings.Join(strings.Fields(words.String()), " ")
}

// relink has links to documents lead to their pages. Files that the server does not have
// stay as text.
func relink(name string, root ast.Node) {
	var away []*ast.Link
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, is := node.(*ast.Link); is && entering && !follow(name, link) {
			away = append(away, link)
		}
		return ast.WalkContinue, nil // no callback fails
	})
	for _, link := range away {
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
}

// follow reports whether a link leads somewhere.
func follow(name string, link *ast.Link) bool {
	to, anchor, hasAnchor := strings.Cut(string(link.Destination), "#")
	if to == "" || strings.Contains(to, "://") {
		return true
	}
	document, is := strings.CutSuffix(path.Join(path.Dir(name), to), ".md")
	if !is || strings.HasPrefix(document, "../") {
		return false
	}
	to = Root + document
	if hasAnchor {
		to += "#" + anchor
	}
	link.Destination = []byte(to)
	return true
}

// listed is a group of documents, by name.
type listed struct {
	name      string
	documents []string
}

// readContents finds the headings of the front page and the links below them.
func readContents(root ast.Node, source []byte) (groups []listed) {
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.Heading:
			if entering && node.Level > 1 {
				groups = append(groups, listed{name: plain(node, source)})
			}
		case *ast.Link:
			to, _, _ := strings.Cut(string(node.Destination), "#")
			name, is := strings.CutSuffix(to, ".md")
			if n := len(groups); entering && is && n > 0 {
				groups[n-1].documents = append(groups[n-1].documents, name)
			}
		}
		return ast.WalkContinue, nil // no callback fails
	})
	return groups
}
