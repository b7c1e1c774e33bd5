// Package docs embeds the handbook, which the server has under /docs.
package docs

import "embed"

// Files are the documents and their pictures, by their names from here.
//
//go:embed *.md decisions/*.md pictures/*.svg
var Files embed.FS
