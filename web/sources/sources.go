// Package sources hashes the sources of the page, to check whether the committed
// build belongs to them without building it.
package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
)

// File is the name of the hash in dist.
const File = "sources.sha256"

// roots are what the build reads, below the root of the repository.
var roots = []string{
	"web/app", "web/public", "web/index.html", "web/docs.html", "web/docs/handbook.html",
	"web/package.json", "web/package-lock.json", "web/tsconfig.json", "web/vite.config.ts", "web/operations.ts",
}

// Hash sums up the sources in the repository: names and contents.
func Hash(folder fs.FS) (string, error) {
	var names []string
	for _, root := range roots {
		err := fs.WalkDir(folder, root, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return "", err
		}
		// A hash never fails.
		_, _ = fmt.Fprintf(all, "%s %x\n", name, sha256.Sum256(text))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
