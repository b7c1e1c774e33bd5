//go:build linux

package faults_test

import (
	"errors"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer sends each request to one of the instances that report ready.
// It never tries a request twice: that would hide what it is here to show.
type balancer struct {
	*httptest.Server
	proxies []*httputil.ReverseProxy
	ready   []atomic.Bool
	turn    atomic.Int64
	// failed counts the requests of which an instance let go.
	failed atomic.Int64
	// sent counts the requests of each instance.
	sent []atomic.Int64
}

// probeEvery is the balancer's interval; instances drain for longer.
const probeEvery = 50 * time.Millisecond

func newBalancer(t *testing.T, addresses ...string) *balancer {
	t.Helper()
	b := &balancer{ready: make([]atomic.Bool, len(addresses)), sent: make([]atomic.Int64, len(addresses))}
	var probing sync.WaitGroup
	stop := make(chan struct{})
	for i, address := range addresses {
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
		proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
		proxy.FlushInterval = -1
		proxy.ErrorLog = log.New(t.Output(), "", 0)
		proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				b.failed.Add(1)
				t.Logf("%s of %s: %v", r.URL.Path, address, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		}
		b.proxies = append(b.proxies, proxy)
		b.ready[i].Store(probe(address))
		probing.Go(func() { b.follow(i, address, stop) })
	}
	b.Server = httptest.NewServer(b)
	t.Cleanup(func() { close(stop); probing.Wait(); b.CloseClientConnections(); b.Close() })
	return b
}

func (b *balancer) follow(i int, address string, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(probeEvery):
			b.ready[i].Store(probe(address))
		}
	}
}

// ServeHTTP implements http.Handler.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := b.pick()
	if err != nil {
		b.failed.Add(1)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	b.sent[i].Add(1)
	b.proxies[i].ServeHTTP(w, r)
}

func (b *balancer) pick() (int, error) {
	next := int(b.turn.Add(1))
	for i := range b.proxies {
		if i = (next + i) % len(b.proxies); b.ready[i].Load() {
			return i, nil
		}
	}
	return 0, errors.New("no instance is ready")
}
