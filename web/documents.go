package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"simgraph/docs"
	"simgraph/web/handbook"
)

const (
	// template is the page of a document without its text.
	template = "dist/docs/handbook.html.gz"
	// sectionsPath has what the handbook is searched by.
	sectionsPath = handbook.Root + "sections.json"
)

// addHandbook adds the pages of the handbook. They are made when one is first asked for.
func addHandbook(handlers map[string]http.Handler, version string) error {
	names, err := handbook.Names(docs.Files)
	if err != nil {
		return err
	}
	pages := sync.OnceValues(func() (map[string]*file, error) { return documents(version) })
	serve := func(address string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			files, err := pages()
			if err != nil {
				answer(w, http.StatusInternalServerError, map[string]any{"error": map[string]string{"message": "the handbook cannot be shown", "code": "INTERNAL_ERROR"}})
				return
			}
			files[address].ServeHTTP(w, r)
		})
	}
	handlers[sectionsPath] = serve(sectionsPath)
	for _, name := range names {
		handlers[handbook.Root+name] = serve(handbook.Root + name)
	}
	return nil
}

// documents returns the files of the handbook by their paths.
func documents(version string) (map[string]*file, error) {
	frame, err := unpacked(template)
	if err != nil {
		return nil, err
	}
	book, err := handbook.Read(docs.Files)
	if err != nil {
		return nil, err
	}
	files := map[string]*file{}
	sections := []handbook.Section{}
	for _, name := range slices.Sorted(maps.Keys(book.Pages)) { // all instances give the same tag
		page := book.Pages[name]
		sections = append(sections, page.Sections...)
		if files[handbook.Root+name], err = pack(name+".html", framed(frame, version, book, page)); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(sections)
	if err != nil {
		return nil, err
	}
	files[sectionsPath], err = pack(sectionsPath, string(text))
	return files, err
}

// Operations is the manifest of the operations of the page: their texts by the SHA-256 of
// each. The page sends those ids.
func Operations() ([]byte, error) {
	names, err := fs.Glob(dist, "dist/assets/operations-*.json.gz")
	if err != nil || len(names) != 1 {
		return nil, fmt.Errorf("dist has %d manifests of operations, not one: run make web (%w)", len(names), err)
	}
	text, err := unpacked(names[0])
	return []byte(text), err
}

func unpacked(name string) (string, error) {
	packed, err := dist.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = packed.Close() }()
	text, err := gzip.NewReader(packed)
	if err != nil {
		return "", err
	}
	const most = 1 << 20
	all, err := io.ReadAll(io.LimitReader(text, most))
	return string(all), err
}

func pack(name, text string) (*file, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return newFile(name, packed.Bytes())
}

// framed returns the page of a document.
func framed(frame, version string, book *handbook.Handbook, page *handbook.Page) string {
	return strings.NewReplacer(
		"<title>Handbook", "<title>"+html.EscapeString(page.Title),
		"<!-- contents -->", contents(book, page),
		"<!-- version -->", html.EscapeString(version),
		"<!-- text -->", page.HTML,
	).Replace(frame)
}

// contents lists the documents, and the sections of the page.
func contents(book *handbook.Handbook, page *handbook.Page) string {
	var list strings.Builder
	for _, group := range book.Contents {
		list.WriteString("<p>" + html.EscapeString(group.Name) + "</p><ul>")
		for _, of := range group.Pages {
			if of != page {
				list.WriteString("<li>" + link(handbook.Root+of.Name, "", of.Title) + "</li>")
				continue
			}
			list.WriteString("<li>" + link(handbook.Root+of.Name, ` aria-current="page"`, of.Title) + "<ul>")
			for _, section := range page.Sections[1:] {
				list.WriteString("<li>" + link(section.Address, "", section.Heading) + "</li>")
			}
			list.WriteString("</ul></li>")
		}
		list.WriteString("</ul>")
	}
	return list.String()
}

func link(address, attribute, name string) string {
	return `<a href="` + address + `"` + attribute + ">" + html.EscapeString(name) + "</a>"
}
