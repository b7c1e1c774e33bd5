package main

import (
	"context"
	"net/http/httptest"
	"os"
	"runtime/pprof"
)

// profiled writes a CPU profile of the endpoints under all workloads, over HTTP and
// each for as long. The program of the bench is the server here.
func (a *answers) profiled(ctx context.Context) error {
	handler, err := endpoints(a.pool)
	if err != nil {
		return err
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	file, err := os.Create(a.profile)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	for _, w := range a.workloads {
		a.load(ctx, &program{address: server.URL, pid: os.Getpid()}, w.request, 0)
	}
	pprof.StopCPUProfile()
	return file.Close()
}
