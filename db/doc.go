// Package db keeps what the domain's ports ask for in PostgreSQL: one store per
// noun, with its statements beside the methods that run them. The schema stands
// in migrations, under the rules of docs/architecture.md.
package db
