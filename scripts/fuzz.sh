#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (60s), or lists them: fuzz.sh list. Inputs
# that fail are kept in the testdata/fuzz of their package, where every later go test runs them.
set -u
failed=0
for package in $(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./...); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(f \*testing\.F).*/\1/p' "$package"/*_test.go); do
		echo "$package $target"
		[ "${1:-}" = list ] && continue
		(cd "$package" && go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-60s}" .) || failed=1
	done
done
exit $failed
