// Command generator writes graph/generated: what gqlgen writes, and beside it
// plan.generated.go, from which the package plan answers fields.
package main

import (
	"fmt"
	"os"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate() error {
	if err := writeLists(); err != nil {
		return err
	}
	if err := writeFederation(); err != nil {
		return err
	}
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return err
	}
	if err := keepMaps(cfg); err != nil {
		return err
	}
	if err := bindNouns(cfg); err != nil {
		return err
	}
	p := &plugin{}
	if err := api.Generate(cfg, api.AddPlugin(p)); err != nil {
		return err
	}
	return writeRoot(p.data)
}
