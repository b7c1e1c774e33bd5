package command

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"simgraph/resolvers"
)

// Schema prints the schema of the graph, or how it differs from another.
type Schema struct {
	Diff string `type:"existingfile" placeholder:"FILE" help:"Print what changed since the schema in this file, and fail when it breaks clients."`
}

// Run prints the schema in SDL, or the changes, one a line.
func (c Schema) Run(env *Env) error {
	if c.Diff == "" {
		writeSchema(env.Stdout)
		return nil
	}
	before, err := readSchema(c.Diff)
	if err != nil {
		return err
	}
	breaking := 0
	for _, change := range diffSchemas(before, graphSchema()) {
		if change.breaking {
			breaking++
		}
		if _, err := fmt.Fprintln(env.Stdout, change); err != nil {
			return err
		}
	}
	if breaking > 0 {
		return fmt.Errorf("%d changes break clients of %s", breaking, c.Diff)
	}
	return nil
}

func graphSchema() *ast.Schema { return resolvers.New(resolvers.Ports{}, nil).Schema().Schema() }

func writeSchema(to io.Writer) {
	formatter.NewFormatter(to, formatter.WithIndent("  ")).FormatSchema(graphSchema())
}

func readSchema(path string) (*ast.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: path, Input: string(text)})
	if err != nil {
		return nil, fmt.Errorf("%s is no schema: %w", path, err)
	}
	return schema, nil
}

// Version prints the version.
type Version struct{}

// Run prints the version of the build.
func (Version) Run(env *Env) error {
	_, err := fmt.Fprintln(env.Stdout, "simgraph "+BuildVersion())
	return err
}

// version is that of a release: scripts/release.sh sets it.
var version string

// BuildVersion is the version of a release, else the module's version or the commit that it
// was built from.
func BuildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return "devel"
}
