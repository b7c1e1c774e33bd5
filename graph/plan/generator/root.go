package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/codegen"
)

// writeRoot writes gqlgen's root file again, as for a schema without inputs. With them each
// operation begins by a map of the functions that read them, some 200 allocations. It is for
// graphql.UnmarshalInputFromContext, which nothing here calls.
func writeRoot(data *codegen.Data) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(data.Config.Exec.DirName), "root")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg, root := *data.Config, *data
	cfg.Exec.DirName = dir
	root.Config, root.Inputs = &cfg, nil
	if err := codegen.GenerateCode(&root); err != nil {
		return err
	}
	const name = "root_.generated.go"
	return os.Rename(filepath.Join(dir, name), filepath.Join(data.Config.Exec.DirName, name))
}
