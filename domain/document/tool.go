package document

import (
	"strings"
	"unicode"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

const (
	// MaxToolName is how many characters the name of a tool for agents may have.
	MaxToolName = 64
	// MaxToolDescription is how many characters the description of a tool for agents may have.
	MaxToolDescription = 399
)

// Tool is how agents see a document that they may call.
type Tool struct{ Name, Description string }

// NewTool returns the tool that a document becomes. What is "" stays as it was or, in a
// document that is no tool yet, is taken from the operation: its name in lower-case words,
// such as find_vans for FindVans, and its description.
func (d *Document) NewTool(checked Checked, name, description string) (Tool, error) {
	tool := Tool{Name: name, Description: strings.TrimSpace(description)}
	for _, otherwise := range []Tool{{d.ToolName, d.ToolDescription}, {words(checked.Name), strings.Join(strings.Fields(checked.Description), " ")}} {
		if tool.Name == "" {
			tool.Name = otherwise.Name
		}
		if tool.Description == "" {
			tool.Description = otherwise.Description
		}
	}
	return tool, tool.valid()
}

func (t Tool) valid() error {
	switch n := len([]rune(t.Description)); {
	case !isToolName(t.Name):
		return domain.Invalid("name", "the name of a tool is 1 to %d letters a to z, digits and _, and begins with a letter: %.100q is none", MaxToolName, t.Name)
	case n == 0:
		return domain.Invalid("description", "the tool %s needs a description, from which a model sees what it is for", t.Name)
	case n > MaxToolDescription:
		return domain.Invalid("description", "the description of the tool %s has %d characters, more than %d", t.Name, n, MaxToolDescription)
	case strings.ContainsFunc(t.Description, func(r rune) bool { return !unicode.IsPrint(r) || r == '<' || r == '>' }):
		return domain.Invalid("description", "the description of the tool %s must be plain: one line of printable characters without < and >", t.Name)
	}
	return nil
}

func isToolName(name string) bool {
	for i, c := range []byte(name) {
		if isLetter := c >= 'a' && c <= 'z'; !isLetter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= MaxToolName
}

// words writes the name of an operation in lower case, with _ before each capital that
// begins a word.
func words(name string) string {
	var out strings.Builder
	isCapital := func(i int) bool { return i >= 0 && i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	for i, c := range name {
		if isCapital(i) && i > 0 && name[i-1] != '_' && (!isCapital(i-1) || i+1 < len(name) && !isCapital(i+1)) {
			out.WriteByte('_')
		}
		out.WriteRune(c)
	}
	return ascii.Lower(out.String())
}
