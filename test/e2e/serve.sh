#!/bin/sh
# Serves the demo company on a database of its own and runs test files against it: those that
# are named, or with TAKEN those that no other has marked as taken in that folder.
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

# A free port, for a network element of the tests.
radius=127.0.0.1:$(node -e 'const s = require("dgram").createSocket("udp4"); s.bind(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
# Free ports, for the server and for two OpenID providers of the tests, which start later.
free() { node -e 'const s = require("net").createServer(); s.listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
addr=127.0.0.1:$(free)
provider=http://localhost:$(free)
lemonldap=http://localhost:$(free)
(
	umask 077
	printf 'the secret of the tests' >"$data/provider.secret"
	printf 'secret-of-the-tests' >"$data/lemonldap.secret"
)
cat >"$data/providers.json" <<JSON
{"providers": [{
  "name": "e2e", "title": "Provider of the tests", "issuer": "$provider", "clientId": "simgraph", "clientSecretFile": "provider.secret", "scopes": ["email", "groups"], "createUsers": true,
  "rules": [{"claim": "groups", "value": "fleet", "company": "demo", "wholeCompany": true, "permissions": ["View Statistics Overview", "View Subscriber"]}]
}, {
  "name": "lemonldap", "title": "LemonLDAP", "issuer": "$lemonldap", "clientId": "simgraph", "clientSecretFile": "lemonldap.secret", "scopes": ["email", "groups", "offline_access"], "userInfo": true,
  "createUsers": true, "emailDomains": ["lemonldap.example"], "assumeEmailVerified": true, "rules": [
    {"claim": "groups", "value": "fleet", "company": "demo", "wholeCompany": true, "permissions": ["View Statistics Overview", "View Subscriber"]},
    {"claim": "groups", "value": "admins", "company": "demo", "wholeCompany": true, "permissions": ["View Statistics Overview", "View a User's Details"]}
  ]
}]}
JSON
../../simgraph serve --demo --demo-feed off --radius-addr "$radius" --addr "$addr" --data-dir "$data" \
	--public-url "http://$addr" --oidc-config "$data/providers.json" --oidc-check 1s --webhook-allow-private >"$data/out" &
server=$!
for _ in $(seq 600); do
	grep -q 'Bearer' "$data/out" && break
	kill -0 "$server" || exit 1
	sleep 0.1
done
base=$(grep -om1 'http://[0-9.:]*' "$data/out")
# A session as a gateway reports it, which ended some minutes ago.
at() { node -p "new Date(Date.now() - $1 * 60_000).toISOString()"; }
session=$(printf '{"type":"session","company":"demo","subscriber":"89441000000000000000","physicalId":"89441000000000000000","source":"pgw-berlin","sessionId":"e2e","beganAt":"%s","asOf":"%s","reportedAt":"%s","endedAt":"%s",' "$(at 90)" "$(at 30)" "$(at 30)" "$(at 30)"
	printf '%s' '"cause":"User-Request","intervalSeconds":300,"mobileOriginated":1200000,"mobileTerminated":300000,"reports":4,"records":0,"apn":"iot.example","ipAddress":"10.98.0.7","imei":"35693803564380901","ratType":"EUTRAN","visitedNetwork":"26201"}')
printf '%s\n' '{"type":"recipient","company":"demo","email":"refused@demo.example"}' \
	'{"type":"suppression","company":"demo","email":"refused@demo.example","since":"2026-10-02T08:00:00Z","reason":"refused","detail":"550 5.1.1 no such user"}' "$session" \
	| ../../simgraph import --data-dir "$data" - >/dev/null
export SIMGRAPH_URL="$base/graphql" SIMGRAPH_BASE="$base" SIMGRAPH_DATA_DIR="$data" SIMGRAPH_PROVIDER="$provider" SIMGRAPH_LEMONLDAP="$lemonldap" SIMGRAPH_RADIUS="$radius"
SIMGRAPH_RADIUS_SECRET=$(../../simgraph radius client add e2e --network 127.0.0.1/32 --company demo --data-dir "$data")
SIMGRAPH_TOKEN=$(sed -n "s/.*Bearer \([^']*\).*/\1/p" "$data/out" | head -n 1)
export SIMGRAPH_RADIUS_SECRET SIMGRAPH_TOKEN

status=0
if [ -z "${TAKEN:-}" ]; then
	node --test "$@" || status=$?
else
	for file in *.test.js; do
		mkdir "$TAKEN/$file" 2>/dev/null || continue
		node --test "$file" || status=$?
	done
fi
exit "$status"
