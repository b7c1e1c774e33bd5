#!/usr/bin/env bash
# Makes the files of a release in dist/: an archive for each system with the
# program, the notices of what it contains and the manual; a list of its parts
# (CycloneDX), and one of the page's; the source of the Go client; the package of the TypeScript client; SHA256SUMS. The same commit gives the same
# archives.
#   make release VERSION=1.2.3
# ALLOW_DIRTY=1 takes a tree with changes, for trials.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1#v}
systems=${SYSTEMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || {
	echo "release: VERSION is to be MAJOR.MINOR.PATCH, and is '$1'" >&2
	exit 2
}
if [ ! -d .git ]; then
	echo "release: needs a clone of its own: the list of parts cannot be made in a worktree of git" >&2
	exit 1
fi
if [ -n "$(git status --porcelain)" ] && [ "${ALLOW_DIRTY:-}" != 1 ]; then
	echo "release: there are changes that are not committed" >&2
	exit 1
fi

out=dist
rm -rf "$out"
mkdir -p "$out"
export CGO_ENABLED=0 SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

# The notices and the list of parts of the page name what its lock file names.
(cd web && npm ci --no-audit --no-fund --ignore-scripts --silent)
bash scripts/notices.sh >"$out/NOTICES.txt"

for system in $systems; do
	name=simgraph_${version}_${system/\//_}
	mkdir "$out/$name"
	GOOS=${system%/*} GOARCH=${system#*/} go build -trimpath \
		-ldflags="-s -w -X simgraph/internal/command.version=v$version" -o "$out/$name/simgraph" .
	cp -r README.md CHANGELOG.md docs deploy "$out/$name"
	cp "$out/NOTICES.txt" "$out/$name"
	# The place for the licence that the owner chooses.
	for licence in LICENSE LICENSE.txt LICENSE.md; do
		if [ -f "$licence" ]; then cp "$licence" "$out/$name"; fi
	done
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$out" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
	rm -r "${out:?}/$name"
	GOOS=${system%/*} GOARCH=${system#*/} "$CYCLONEDX" app -json -licenses -std -noserial -output "$out/$name.cdx.json" .
	echo "release: $name.tar.gz"
done

# The source of the Go client.
name=simgraph_${version}_go-client
git ls-files -z clients/go | tar --null --files-from=- --transform="s,^clients/go,$name," --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -cf - | gzip -n9 >"$out/$name.tar.gz"
echo "release: $name.tar.gz"

# The TypeScript client, with the version of the release.
make --silent client-typescript
mkdir "$out/typescript"
cp -r clients/typescript/package.json clients/typescript/dist "$out/typescript"
(cd "$out/typescript" && npm pkg set "version=$version" && npm pack --silent --pack-destination .. >/dev/null)
rm -r "${out:?}/typescript"
name=simgraph_${version}_typescript-client.tgz
mv "$out/simgraph-client-$version.tgz" "$out/$name"
echo "release: $name"

node scripts/page-sbom.mjs "$version" >"$out/simgraph_${version}_page.cdx.json"
(cd "$out" && sha256sum -- * >SHA256SUMS)
echo "release: $(wc -l <"$out/SHA256SUMS") files with their SHA256SUMS in $out/"
