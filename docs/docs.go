// Package docs embeds the handbook, which the server has under /docs.
package docs

import "embed"

// Files are the documents, by their names from here.
//
//go:embed *.md decisions/*.md
var Files embed.FS
