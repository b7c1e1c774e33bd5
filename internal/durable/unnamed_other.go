//go:build !linux

package durable

import "os"

func unnamed(dir string) (*os.File, error) { return temporary(dir) }

func named(file *os.File, _ string) (string, error) { return file.Name(), nil }
