// Package db makes the schema of the database, which stands in migrations, and brings it up to
// date. What the domain's ports ask for is kept by the packages below it: one store per noun, with
// its statements beside the methods that run them, under the rules of docs/architecture.md.
package db
