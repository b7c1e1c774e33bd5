#!/bin/sh
# Tries the service with Node's GraphQL clients and a browser: two servers at once, each of which
# takes the next file.
set -eu
cd "$(dirname "$0")"

if [ ! -x /usr/bin/chromium-headless-shell ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null; } ||
		[ -x /usr/bin/chromium ]
fi
npm ci --no-audit --no-fund --silent
(cd clients && npm ci --no-audit --no-fund --silent)
(cd inspector && npm ci --no-audit --no-fund --silent --ignore-scripts)

TAKEN=$(mktemp -d)
export TAKEN
trap 'rm -rf "$TAKEN"' EXIT
sh serve.sh >"$TAKEN/second" 2>&1 &
second=$!
status=0
sh serve.sh || status=$?
wait "$second" || status=$?
cat "$TAKEN/second"
exit "$status"
