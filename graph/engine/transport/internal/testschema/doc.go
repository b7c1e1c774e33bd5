// Package testschema is a small schema that shows every kind of input, error
// and stream, for the tests of the transport.
package testschema

//go:generate go tool gqlgen generate
