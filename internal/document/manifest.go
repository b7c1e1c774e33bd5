package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"simgraph/domain/document"
)

// MaxManifest is how many bytes a manifest of trusted documents may have.
const MaxManifest = 32 << 20

// Listed is a document of a manifest.
type Listed struct {
	// Name is that of the operation where the manifest says it, else the id.
	Name string
	Text string
}

// format and version name the manifests of Apollo that are read.
const (
	format  = "apollo-persisted-query-manifest"
	version = 1
)

// ReadManifest reads a manifest of Apollo (apollo-persisted-query-manifest, version 1), or
// one of graphql-codegen: an object of texts by their hashes. Each id must be the SHA-256 of
// its text.
func ReadManifest(data []byte) ([]Listed, error) {
	if len(data) > MaxManifest {
		return nil, fmt.Errorf("a manifest has at most %d bytes", MaxManifest)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return nil, errors.New("a manifest is a JSON object: that of Apollo's generate-persisted-query-manifest, or of graphql-codegen's persistedDocuments")
	}
	if _, is := members["format"]; is {
		return readApollo(data)
	}
	return readHashes(members)
}

// Texts returns the texts of a manifest by their ids.
func Texts(data []byte) (map[string]string, error) {
	all, err := ReadManifest(data)
	texts := map[string]string{}
	for _, one := range all {
		texts[document.IDOf(one.Text)] = one.Text
	}
	return texts, err
}

func readApollo(data []byte) ([]Listed, error) {
	var manifest struct {
		Format     string
		Version    int
		Operations []struct{ ID, Name, Body string }
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&manifest); err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	if manifest.Format != format || manifest.Version != version {
		return nil, fmt.Errorf("the format is %.100q, version %d: only %s, version %d, is read", manifest.Format, manifest.Version, format, version)
	}
	var all []Listed
	for _, one := range manifest.Operations {
		listed, err := read(one.ID, one.Name, one.Body)
		if err != nil {
			return nil, err
		}
		all = append(all, listed)
	}
	return all, nil
}

func readHashes(members map[string]json.RawMessage) ([]Listed, error) {
	var all []Listed
	for _, id := range slices.Sorted(maps.Keys(members)) {
		var text string
		if err := json.Unmarshal(members[id], &text); err != nil {
			return nil, fmt.Errorf("%.100q is no text of a document", id)
		}
		listed, err := read(id, id, text)
		if err != nil {
			return nil, err
		}
		all = append(all, listed)
	}
	return all, nil
}

func read(id, name, text string) (Listed, error) {
	hash, ok := document.ParseID(id)
	if !ok {
		return Listed{}, fmt.Errorf("the id %.100q is no SHA-256 in lower-case hexadecimal digits: graphql-codegen needs hashAlgorithm: 'sha256'", id)
	}
	if hash != document.IDOf(text) {
		return Listed{}, fmt.Errorf("the id %s is not the SHA-256 of its text", id)
	}
	return Listed{Name: name, Text: text}, nil
}
