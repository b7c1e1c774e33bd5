package command

import (
	"fmt"
	"runtime/debug"

	"github.com/vektah/gqlparser/v2/formatter"

	"simgraph/resolvers"
)

// Schema prints the schema of the graph.
type Schema struct{}

// Run prints the schema in SDL.
func (Schema) Run(env *Env) error {
	schema := resolvers.New(resolvers.Ports{}, nil).Schema().Schema()
	formatter.NewFormatter(env.Stdout, formatter.WithIndent("  ")).FormatSchema(schema)
	return nil
}

// Version prints the version.
type Version struct{}

// Run prints the version of the build.
func (Version) Run(env *Env) error {
	_, err := fmt.Fprintln(env.Stdout, "simgraph "+BuildVersion())
	return err
}

// BuildVersion is the module's version or the commit that it was built from.
func BuildVersion() string {
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
