#!/bin/sh
# Lists the packages whose own code starts goroutines or guards memory that goroutines share.
# Those of server.go, faults and security run the server as a program, or send one request
# at a time: the race detector sees nothing there.
set -eu
cd "$(dirname "$0")/.."
files=$(go list -f '{{$of := .}}{{range .GoFiles}}{{$of.ImportPath}} {{$of.Dir}}/{{.}}{{"\n"}}{{end}}' ./...)
printf '%s\n' "$files" |
	grep -vE '^simgraph( |/test/|[^ ]*/generated )' |
	while read -r package file; do
		[ -z "$file" ] || ! grep -qE '^[[:space:]]*go [a-zA-Z(]|\.Go\(|(sync\.(Mutex|RWMutex|Map|Pool|Cond|Once\b)|atomic\.[A-Z])' "$file" || echo "$package"
	done | sort -u
