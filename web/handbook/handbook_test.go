package handbook_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"simgraph/docs"
	"simgraph/web/handbook"
)

var (
	anchor  = regexp.MustCompile(` id="([^"]*)"`)
	address = regexp.MustCompile(` href="([^"]*)"`)
)

func read(t *testing.T) *handbook.Handbook {
	t.Helper()
	book, err := handbook.Read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

// Every link leads to a document that is there, and to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	book := read(t)
	known := map[string]bool{"/docs": true}
	for name, page := range book.Pages {
		known[handbook.Root+name] = true
		for _, id := range anchor.FindAllStringSubmatch(page.HTML, -1) {
			known[handbook.Root+name+"#"+id[1]] = true
		}
		for _, section := range page.Sections {
			if !known[section.Address] {
				t.Errorf("%s is searched, and not there", section.Address)
			}
		}
	}
	for name, page := range book.Pages {
		for _, link := range address.FindAllStringSubmatch(page.HTML, -1) {
			to := link[1]
			if strings.HasPrefix(to, "#") {
				to = handbook.Root + name + to
			}
			if !strings.Contains(to, "://") && !known[to] {
				t.Errorf("%s has a link to %s", name, link[1])
			}
		}
	}
}

// The contents beside a page name each document once.
func TestContentsNameEachDocumentOnce(t *testing.T) {
	t.Parallel()
	named := map[string]string{}
	for _, group := range read(t).Contents {
		for _, page := range group.Pages {
			if before, again := named[page.Name]; again {
				t.Errorf("%s stands below %q and %q", page.Name, before, group.Name)
			}
			named[page.Name] = group.Name
		}
	}
	if len(named) == 0 {
		t.Error("there are no contents")
	}
}

// A reader comes to every document from the front page.
func TestEveryDocumentIsReached(t *testing.T) {
	t.Parallel()
	book := read(t)
	reached := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		page := book.Pages[name]
		if page == nil || reached[name] {
			return
		}
		reached[name] = true
		for _, link := range address.FindAllStringSubmatch(page.HTML, -1) {
			to, _, _ := strings.Cut(link[1], "#")
			visit(strings.TrimPrefix(to, handbook.Root))
		}
	}
	visit(handbook.Front)
	listed := map[string]bool{handbook.Front: true}
	for _, group := range book.Contents {
		if len(group.Pages) == 0 {
			t.Errorf("the contents have nothing below %q", group.Name)
		}
		for _, page := range group.Pages {
			listed[page.Name] = true
		}
	}
	for name, page := range book.Pages {
		if !reached[name] {
			t.Errorf("no link leads to %s", name)
		}
		if !listed[name] && !strings.HasPrefix(name, "decisions/") {
			t.Errorf("docs/handbook.md does not list %s", name)
		}
		if page.Title == "" || strings.Contains(page.HTML, "raw HTML omitted") {
			t.Errorf("%s has no title, or HTML that is left out", name)
		}
	}
}

func TestAPictureThatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := handbook.Read(fstest.MapFS{"handbook.md": {Data: []byte("# Handbook\n\n![Gone](gone.svg)\n")}}); err == nil || !strings.Contains(err.Error(), "gone.svg") {
		t.Errorf("a document without its picture: %v", err)
	}
}

func TestAPageHasAnchorsAndMarksAndNothingOfTheReader(t *testing.T) {
	t.Parallel()
	book, err := handbook.Read(fstest.MapFS{
		"handbook.md": {Data: []byte("# Handbook\n\n## Run\n\n- [Keys](keys.md#ends)\n")},
		"keys.md": {Data: []byte("# Keys & tokens\n\nSee [the unit](../deploy/unit.service) and [this](deep/one.md).\n\n## Ends\n\n" +
			"| a | b |\n|--|--|\n| `1` | <script>2</script> |\n\n```sh run.sh\necho '<b>'\n```\n")},
		"deep/one.md": {Data: []byte("# One\n\n[Up](../keys.md#ends)\n\n![A line](../line.svg)\n")},
		"line.svg":    {Data: []byte("<svg><path d=\"M0 0H9\"/></svg>")},
	})
	if err != nil {
		t.Fatal(err)
	}
	keys := book.Pages["keys"]
	for _, want := range []string{
		`<h2 id="ends">`, "See the unit and", `<a href="/docs/deep/one">this</a>`, `<div class="wide" role="group" tabindex="0"`,
		`<p class="file"><code>run.sh</code></p>`, "echo &#39;&lt;b&gt;&#39;",
	} {
		if !strings.Contains(keys.HTML, want) {
			t.Errorf("%s is not in %s", want, keys.HTML)
		}
	}
	if drawn := book.Pages["deep/one"].HTML; !strings.Contains(drawn, `aria-label="A line"><svg>`) {
		t.Errorf("the picture is not in %s", drawn)
	}
	if strings.Contains(keys.HTML, "<script") {
		t.Error("a document runs a script")
	}
	if keys.Title != "Keys & tokens" || len(keys.Sections) != 2 || keys.Sections[1] != (handbook.Section{
		Address: "/docs/keys#ends", Document: "Keys & tokens", Heading: "Ends", Text: "a b 1 2 echo '<b>'",
	}) {
		t.Errorf("the sections are %+v", keys.Sections)
	}
	if up := book.Pages["deep/one"].HTML; !strings.Contains(up, `href="/docs/keys#ends"`) {
		t.Errorf("a link upwards is %s", up)
	}
	if len(book.Contents) != 1 || book.Contents[0].Name != "Run" || book.Contents[0].Pages[0] != keys {
		t.Errorf("the contents are %+v", book.Contents)
	}
}
