package pg_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestAReplicaIsAStandbyOfTheSameCluster(t *testing.T) {
	t.Parallel()
	pair := dbtest.NewPair(t)
	primary, err := pg.Open(t.Context(), pair.Primary, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = primary.Close() })
	cluster, err := pg.Cluster(t.Context(), primary)
	fatal.If(t, err)
	for _, of := range []struct{ address, cluster, complaint string }{
		{pair.Standby, cluster, ""},
		{pair.Primary, cluster, "no standby"},
		{pair.Standby, "7", "another database"},
		{"postgres://nobody@127.0.0.1:1/none", cluster, "refused"},
	} {
		standby := openReplica(t, of.address, of.cluster)
		written, err := pg.Written(t.Context(), primary)
		fatal.If(t, err)
		replayed, err := standby.Replayed(t.Context())
		for deadline := time.Now().Add(time.Minute); err == nil && replayed < written && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			replayed, err = standby.Replayed(t.Context())
		}
		if of.complaint == "" && (err != nil || replayed < written) || of.complaint != "" && (err == nil || !strings.Contains(fmt.Sprint(errors.Unwrap(err), err), of.complaint)) {
			t.Errorf("%s: %v, %v of %v, want %q", of.address, err, replayed, written, of.complaint)
		}
	}
}

func openReplica(t *testing.T, address, cluster string) *pg.Replica {
	t.Helper()
	standby, err := pg.OpenReplica(address, cluster, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = standby.Close() })
	return standby
}

// A read that waits for an answer which does not come ends when the connections
// are closed, although its context goes on.
// During a failover those hosts of an address that answer are standbys: requests are
// Unavailable, and a start says in one line what to do.
func TestAnAddressWithoutAPrimaryIsUnavailable(t *testing.T) {
	t.Parallel()
	pair := dbtest.NewPair(t)
	both, err := pg.Open(t.Context(), pair.Both("read-write"), pg.Options{MaxConns: 2})
	fatal.If(t, err)
	t.Cleanup(func() { _ = both.Close() })
	both.SetMaxIdleConns(0)
	var standby bool
	if err := both.GetContext(t.Context(), &standby, `SELECT pg_is_in_recovery()`); err != nil || standby {
		t.Error(standby, err)
	}
	_, err = pg.Open(t.Context(), pair.Standby+"&target_session_attrs=read-write", pg.Options{})
	if text := fmt.Sprint(err); !pg.NoPrimary(err) || strings.Contains(text, "\n") || !strings.Contains(text, "hot standby") || !strings.Contains(text, "promote a standby") {
		t.Errorf("%q", text)
	}
	if fault, is := domain.AsError(pg.Translate(err)); !is || fault.Kind != domain.KindUnavailable {
		t.Errorf("%v is not unavailable", err)
	}
	pair.KillPrimary()
	err = both.GetContext(t.Context(), &standby, `SELECT pg_is_in_recovery()`)
	translated := pg.Translate(err)
	if fault, is := domain.AsError(translated); err == nil || !is || fault.Kind != domain.KindUnavailable || !pg.NoPrimary(translated) {
		t.Errorf("%v is not unavailable", err)
	}
	pair.Promote()
	if err := both.GetContext(t.Context(), &standby, `SELECT pg_is_in_recovery()`); err != nil || standby {
		t.Error(standby, err)
	}
}

func TestReadsEndAtOnceWhenTheConnectionsOfAReplicaAreClosed(t *testing.T) {
	t.Parallel()
	standby := openReplica(t, dbtest.URL(t), "")
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		conn, err := standby.Pool().Conn(context.WithoutCancel(t.Context()))
		if err != nil {
			ended <- err
			close(began)
			return
		}
		close(began)
		_, err = conn.ExecContext(context.WithoutCancel(t.Context()), "SELECT pg_sleep(600)")
		ended <- errors.Join(err, conn.Close())
	}()
	<-began
	standby.CloseAll()
	err := <-ended
	if retry, down := standby.ShouldFallBack(err); !retry || !down {
		t.Errorf("of %v the read does not fall back: %t, %t", err, retry, down)
	}
	if err := standby.Pool().PingContext(t.Context()); err == nil {
		t.Error("a closed standby takes reads")
	}
	standby.Reopen()
	if _, err := standby.Pool().ExecContext(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("a reopened standby takes no reads: %v", err)
	}
}

func TestAReadFallsBackWhereThePrimaryCouldAnswer(t *testing.T) {
	t.Parallel()
	standby := openReplica(t, "postgres://nobody@127.0.0.1:1/none", "")
	for _, of := range []struct {
		err         error
		retry, down bool
	}{
		{domain.NotFound("physicalId", "subscriber", "1"), false, false},
		{pg.Translate(&pq.Error{Code: "57014"}), false, false},
		{context.Canceled, false, false},
		{&pq.Error{Code: "40001"}, true, false},
		{&pq.Error{Code: "25006"}, true, false},
		{pg.Translate(&pq.Error{Code: "57P01"}), true, true},
	} {
		if retry, down := standby.ShouldFallBack(of.err); retry != of.retry || down != of.down {
			t.Errorf("%v: %t, %t", of.err, retry, down)
		}
	}
}

// A standby that takes the connection and never answers is given up within seconds.
func TestAStandbyThatHangsIsSoonGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer listener.Close()
	standby := openReplica(t, "postgres://postgres@"+listener.Addr().String()+"/postgres?sslmode=disable", "any")
	answered := make(chan error, 1)
	go func() {
		_, err := standby.Replayed(t.Context())
		answered <- err
	}()
	select {
	case err := <-answered:
		if err == nil {
			t.Error("it answered")
		}
	case <-time.After(8 * time.Second): // less than any connection may take to be made
		t.Error("it is waited for")
	}
}
