#!/usr/bin/env bash
# Prints the licences of what the program contains: the modules of Go that are
# linked into it, Go itself, and the packages of npm that the page is built of.
# Of a package of npm without a text it prints the licence that it declares. Fails
# where one of them has neither, or where npm ci was not run in web/.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0

# licences NAME DIR [DECLARED]: the texts in DIR, else what is declared.
licences() {
	local file found=
	for file in "$2"/{LICENSE,LICENCE,COPYING,NOTICE,License,license,UNLICENSE,PATENTS}{,-*,.*}; do
		[ -f "$file" ] || continue
		found=yes
		printf '\n%s\n%s: %s\n\n' "$(printf '=%.0s' {1..78})" "$1" "${file##*/}"
		cat "$file"
	done
	if [ -z "$found" ] && [ -n "${3:-}" ]; then
		printf '\n%s\n%s: has no text of its licence, and declares %s\n' "$(printf '=%.0s' {1..78})" "$1" "$3"
	elif [ -z "$found" ]; then
		echo "notices: $1 has no licence in $2" >&2
		status=1
	fi
}

echo "simgraph contains the following works, under the licences of their authors."
licences "Go $(go env GOVERSION)" "$(go env GOROOT)"
while read -r path version dir; do
	licences "$path $version" "$dir"
done < <(for system in linux darwin; do
	GOOS=$system CGO_ENABLED=0 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' .
done | sort -u)

if [ ! -d web/node_modules ]; then
	echo "notices: run npm ci in web/ first: the page contains packages of npm" >&2
	exit 1
fi
while read -r dir; do
	[ "$dir" != "$PWD/web" ] || continue
	IFS=$'\t' read -r name declared < <(node -p 'const p = require(process.argv[1] + "/package.json"); `${p.name} ${p.version}\t${p.license ? `${p.license}, by ${p.author?.name ?? p.author ?? "its authors"}, ${p.repository?.url ?? p.repository ?? p.homepage ?? ""}` : ""}`' "$dir")
	licences "$name" "$dir" "$declared"
done < <(cd web && npm ls --omit=dev --all --parseable 2>/dev/null | sort -u)
exit $status
