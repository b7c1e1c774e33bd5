#!/bin/sh
# What some tests use and are skipped without, for CI: a pooler, a clock that can
# be set, Prometheus with its checkers, FreeRADIUS, Wireshark's dissector, OpenSSH's
# server with rclone, LemonLDAP::NG, an identity provider, Mosquitto, and pandas. Only where this user may
# install packages. Node-RED comes from npm: 280 packages, 117 MB, some 20 seconds.
set -eu
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && ! { command -v pgbouncer && command -v promtool && command -v amtool && command -v radclient && command -v freeradius && command -v tshark && command -v starman && command -v sftp && command -v rclone && [ -x /usr/sbin/mosquitto ] && command -v mosquitto_pub && /usr/bin/python3 -c "import pandas, psycopg2" && [ -x /usr/sbin/sshd ] && ls /usr/lib/*/faketime/libfaketime.so.1; } >/dev/null 2>&1; then
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer libfaketime prometheus prometheus-alertmanager freeradius freeradius-utils tshark liblemonldap-ng-portal-perl libio-string-perl libstring-random-perl starman openssh-server openssh-client rclone mosquitto mosquitto-clients python3-pandas python3-psycopg2 >/dev/null; } ||
		echo "not installed: the tests that need pgbouncer, libfaketime, promtool, FreeRADIUS, tshark, OpenSSH, rclone, Mosquitto, pandas or LemonLDAP::NG are skipped"
fi
if command -v npm >/dev/null && ! [ "$(dirname "$0")/../test/nodered/node_modules/.package-lock.json" -nt "$(dirname "$0")/../test/nodered/package-lock.json" ]; then
	(cd "$(dirname "$0")/../test/nodered" && npm ci --no-audit --no-fund --silent --ignore-scripts) ||
		echo "not installed: the test that needs Node-RED is skipped"
fi
