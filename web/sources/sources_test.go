package sources_test

import (
	"maps"
	"testing"
	"testing/fstest"

	"simgraph/internal/fatal"
	"simgraph/web/sources"
)

func page() fstest.MapFS {
	folder := fstest.MapFS{"README.md": file("read me")}
	for _, name := range []string{
		"web/app/main.ts", "web/app/usage/span.ts", "web/public/icon.svg", "web/index.html", "web/docs.html", "web/docs/handbook.html", "web/package.json",
		"web/package-lock.json", "web/tsconfig.json", "web/vite.config.ts", "web/operations.ts",
	} {
		folder[name] = file(name)
	}
	return folder
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func hash(t *testing.T, of fstest.MapFS) string {
	t.Helper()
	sum, err := sources.Hash(of)
	fatal.If(t, err)
	return sum
}

// The hash changes with each file that the build reads, and with nothing else.
func TestTheHashIsOfWhatTheBuildReads(t *testing.T) {
	t.Parallel()
	before := hash(t, page())
	for name := range page() {
		changed := page()
		changed[name] = file("changed")
		if isSame := hash(t, changed) == before; isSame != (name == "README.md") {
			t.Errorf("%s is changed, and the hash is the same: %v", name, isSame)
		}
	}
	for _, change := range []func(of fstest.MapFS){
		func(of fstest.MapFS) { of["web/app/more.ts"] = file("") },
		func(of fstest.MapFS) { delete(of, "web/app/usage/span.ts") },
		func(of fstest.MapFS) {
			of["web/app/span.ts"] = of["web/app/usage/span.ts"]
			delete(of, "web/app/usage/span.ts")
		},
	} {
		changed := maps.Clone(page())
		change(changed)
		if hash(t, changed) == before {
			t.Error("files come, go or move, and the hash is the same")
		}
	}
}

func TestASourceThatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	folder := page()
	delete(folder, "web/package-lock.json")
	if sum, err := sources.Hash(folder); err == nil {
		t.Errorf("the hash is %s", sum)
	}
}
