package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namesTest finds names of tests; TestWhatDocumentsNameExists sees to it that they exist.
var namesTest = regexp.MustCompile("`Test[A-Z]\\w+`")

// What is promised, each fault that was tried and each reason why it holds names a test.
func TestPromisesNameTheirTests(t *testing.T) {
	t.Parallel()
	promised := 0
	for section := range strings.SplitSeq(manual(t, "docs/reliability.md"), "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		for _, said := range promisesOf(title, text) {
			promised++
			if !namesTest.MatchString(said) {
				t.Errorf("%s: names no test: %.90s", title, said)
			}
		}
	}
	if promised < 60 {
		t.Errorf("only %d promises and faults were found", promised)
	}
}

// promisesOf are the items of lists of a section about promises, the paragraphs that
// begin with one, and the rows of tables of faults.
func promisesOf(title, text string) (said []string) {
	about := map[string]string{"What is promised": "- ", "How it holds": "**"}[title]
	faults := false
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if about != "" && strings.HasPrefix(strings.TrimSpace(paragraph), about) {
			said = append(said, strings.Split("\n"+strings.TrimSpace(paragraph), "\n"+about)[1:]...)
		}
		for line := range strings.Lines(paragraph) {
			switch {
			case !strings.HasPrefix(line, "|"):
				faults = false
			case strings.HasPrefix(line, "| fault |"):
				faults = true
			case faults && !strings.HasPrefix(line, "|---"):
				said = append(said, line)
			}
		}
	}
	return said
}

// Whatever fault is tried is in the document.
func TestFaultsThatAreTriedAreInTheDocument(t *testing.T) {
	t.Parallel()
	text := manual(t, "docs/reliability.md")
	paths, err := filepath.Glob("test/faults/*_test.go")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, path := range paths {
		for _, match := range declared.FindAllStringSubmatch(manual(t, path), -1) {
			if !strings.Contains(text, "`"+match[1]+"`") {
				t.Errorf("docs/reliability.md has no line for %s of %s", match[1], path)
			}
		}
	}
}
