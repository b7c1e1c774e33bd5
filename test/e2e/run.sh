#!/bin/sh
# Serves the demo company on a database of its own and tries it with Node's
# GraphQL clients and a browser.
set -eu
cd "$(dirname "$0")"

data=$(mktemp -d)
chmod 755 "$data"
server=
finish() {
	[ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
	rm -rf "$data"
}
trap finish EXIT INT TERM

if [ ! -x /usr/bin/chromium ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
npm ci --no-audit --no-fund --silent
(cd clients && npm ci --no-audit --no-fund --silent)

../../simgraph serve --demo --demo-feed off --addr 127.0.0.1:0 --data-dir "$data" >"$data/out" &
server=$!
for _ in $(seq 600); do
	grep -q 'Bearer' "$data/out" && break
	kill -0 "$server" || exit 1
	sleep 0.1
done
base=$(grep -om1 'http://[0-9.:]*' "$data/out")
printf '%s\n' '{"type":"recipient","company":"demo","email":"refused@demo.example"}' \
	'{"type":"suppression","company":"demo","email":"refused@demo.example","since":"2026-10-02T08:00:00Z","reason":"refused","detail":"550 5.1.1 no such user"}' \
	| ../../simgraph import --data-dir "$data" - >/dev/null
SIMGRAPH_URL="$base/graphql" SIMGRAPH_BASE="$base" \
	SIMGRAPH_TOKEN=$(sed -n "s/.*Bearer \([^']*\).*/\1/p" "$data/out" | head -n 1) npm test
