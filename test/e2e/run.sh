#!/bin/sh
# Tries the service with Node's GraphQL clients and a browser: two halves of the files at once,
# each on a server of its own.
set -eu
cd "$(dirname "$0")"

if [ ! -x /usr/bin/chromium ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
npm ci --no-audit --no-fund --silent
(cd clients && npm ci --no-audit --no-fund --silent)
(cd inspector && npm ci --no-audit --no-fund --silent --ignore-scripts)

half=$(mktemp)
trap 'rm -f "$half"' EXIT
sh serve.sh --test-shard=2/2 >"$half" 2>&1 &
second=$!
status=0
sh serve.sh --test-shard=1/2 || status=$?
wait "$second" || status=$?
cat "$half"
exit "$status"
