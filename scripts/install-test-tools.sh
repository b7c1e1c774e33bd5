#!/bin/sh
# What some tests use and are skipped without, for CI: a pooler, a clock that can
# be set, Prometheus with its checkers, FreeRADIUS, Wireshark's dissector, OpenSSH's
# server and LemonLDAP::NG, an identity provider. Only where this user may install packages.
set -eu
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && ! { command -v pgbouncer && command -v promtool && command -v amtool && command -v radclient && command -v freeradius && command -v tshark && command -v starman && command -v sftp && [ -x /usr/sbin/sshd ] && ls /usr/lib/*/faketime/libfaketime.so.1; } >/dev/null 2>&1; then
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer libfaketime prometheus prometheus-alertmanager freeradius freeradius-utils tshark liblemonldap-ng-portal-perl libio-string-perl libstring-random-perl starman openssh-server openssh-client >/dev/null; } ||
		echo "not installed: the tests that need pgbouncer, libfaketime, promtool, FreeRADIUS, tshark, OpenSSH or LemonLDAP::NG are skipped"
fi
