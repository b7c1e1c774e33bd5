package document

import (
	"slices"
	"strings"
	"testing"

	"simgraph/domain/document"
)

const (
	textA = "query A {\n  company {\n    name\n  }\n}"
	textB = "{ viewer { email } }"
)

func TestManifestsOfBothToolsAreRead(t *testing.T) {
	a, b := document.IDOf(textA), document.IDOf(textB)
	apollo := `{"format":"apollo-persisted-query-manifest","version":1,"operations":[
		{"id":"` + a + `","name":"A","type":"query","body":"query A {\n  company {\n    name\n  }\n}"},
		{"id":"sha256:` + b + `","name":"B","type":"query","body":"` + textB + `"}]}`
	codegen := `{"` + a + `":"query A {\n  company {\n    name\n  }\n}","` + b + `":"` + textB + `"}`
	for name, data := range map[string]string{"apollo": apollo, "codegen": codegen} {
		got, err := ReadManifest([]byte(data))
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		texts := []string{got[0].Text, got[1].Text}
		slices.Sort(texts)
		if !slices.Equal(texts, []string{textA, textB}) {
			t.Errorf("%s: %q", name, texts)
		}
	}
	if got, err := ReadManifest([]byte(`{}`)); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}

func TestAManifestAtFaultIsRefusedAsAWhole(t *testing.T) {
	b := document.IDOf(textB)
	for data, says := range map[string]string{
		``: "a manifest is a JSON object", `null`: "a manifest is a JSON object", `[]`: "a manifest is a JSON object", `{} {}`: "a manifest is a JSON object",
		`{"format":"other","version":1}`: "only apollo-persisted-query-manifest", `{"format":1}`: "cannot be read",
		`{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}`: "version 2",
		`{"` + b + `":1}`: "is no text", `{"` + b + `":"{ viewer { email }}"}`: "is not the SHA-256 of its text",
		`{"f7a4b6d2e8":"{ viewer { email } }"}`: "hashAlgorithm", `{"` + strings.ToUpper(b) + `":"` + textB + `"}`: "lower-case",
		`{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"mine","name":"B","body":"` + textB + `"}]}`: "hashAlgorithm",
		strings.Repeat(" ", MaxManifest+1): "at most",
	} {
		if got, err := ReadManifest([]byte(data)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: %v, %v", data, got, err)
		}
	}
}
