// SPDX-License-Identifier: Apache-2.0

package kine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// thing is the key of what the tests write.
const thing = "/registry/thing"

func TestStartKeepsObjectsAndEventsApart(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	cfg := kine.NewConfig(filepath.Join(dir, "db"))
	stores := start(t, cfg)
	put(t, client(t, stores.Objects), "object")
	put(t, client(t, stores.Events), "event")
	stop(t, stores)

	for _, name := range []string{"objects.db", "events.db"} {
		info, err := os.Stat(filepath.Join(cfg.Dir, name))
		if err != nil {
			t.Fatalf("Each store has a file of its own: %v", err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("The databases hold secrets.\nmode of %s: got %o, want 600", name, got)
		}
		if log, err := os.ReadFile(filepath.Join(cfg.Dir, name+"-wal")); err == nil && len(log) > 0 {
			t.Errorf("A stopped store is one file, so that it can be copied.\nsize of %s-wal: got %d, want 0", name, len(log))
		}
	}

	stores = start(t, cfg)
	defer stop(t, stores)
	if diff := cmp.Diff("object", get(t, client(t, stores.Objects))); diff != "" {
		t.Errorf("What was written is there after a restart.\nGet(objects) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("event", get(t, client(t, stores.Events))); diff != "" {
		t.Errorf("What was written is there after a restart.\nGet(events) (-want +got):\n%s", diff)
	}
}

// TestCloseLeavesNoGoroutine runs before the parallel tests do.
//
//nolint:paralleltest // It looks at all goroutines of the process.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	dir := t.TempDir()
	stores := start(t, kine.NewConfig(filepath.Join(dir, "db")))
	etcd := client(t, stores.Objects)
	watch := etcd.Watch(t.Context(), "/registry/", clientv3.WithPrefix())
	put(t, etcd, "object")
	<-watch
	if err := etcd.Close(); err != nil {
		t.Fatal(err)
	}
	stop(t, stores)

	// Kine does not wait for its poller, compactor and expirer, but ends them.
	deadline := time.Now().Add(10 * time.Second)
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "k3s-io/kine/pkg") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("A stopped store runs nothing.\n%s", stacks)
		}
		runtime.Gosched()
	}
}

func TestStartWithEtcd(t *testing.T) {
	t.Parallel()

	cfg := kine.NewConfig("")
	cfg.Endpoint = "https://one:2379,https://two:2379"
	cfg.TLS = kine.TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key"}
	stores := start(t, cfg)
	defer stop(t, stores)

	want := kine.Endpoint{Servers: []string{"https://one:2379", "https://two:2379"}, TLS: cfg.TLS}
	if diff := cmp.Diff(want, stores.Objects); diff != "" {
		t.Errorf("A real etcd is used as it is.\nObjects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, stores.Events); diff != "" || stores.Compacts {
		t.Errorf("It keeps Events as well, and has to be asked for compaction.\nCompacts: got %t; Events (-want +got):\n%s", stores.Compacts, diff)
	}
}

// TestStartCanBeCancelled tries a database that nobody answers for, which Kine would wait for.
func TestStartCanBeCancelled(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	cfg := kine.NewConfig(dir)
	cfg.Endpoint = "postgres://nobody:nothing@127.0.0.1:1/none"
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := kine.Start(ctx, cfg)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("The attempt ends with its context.\nStart(...): got %v, want %v", err, context.DeadlineExceeded)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("It ends soon after: got %s", took)
	}
	if err != nil && strings.Contains(err.Error(), "nothing") {
		t.Errorf("A password is in no error: %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(t *testing.T, dir string)
		is      error
		want    string
	}{
		"NewerLayout": {
			reason: "An older version must not write to what it does not understand.",
			prepare: func(t *testing.T, dir string) {
				t.Helper()
				execute(t, filepath.Join(dir, "objects.db"), "PRAGMA user_version = 3")
			},
			is:   log.ErrNewerLayout,
			want: "written by a newer version of terrarium",
		},
		"NoDatabase": {
			reason: "Kine would try again for five minutes.",
			prepare: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "objects.db"), []byte(strings.Repeat("not a database ", 500)), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			want: "file is not a database",
		},
		"DatabaseIsFolder": {
			reason: "The path is named.",
			prepare: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.Mkdir(filepath.Join(dir, "events.db"), 0o700); err != nil {
					t.Fatal(err)
				}
			},
			want: "events.db: is a directory",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			tc.prepare(t, dir)
			_, err := kine.Start(t.Context(), kine.NewConfig(dir))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nStart(...): got error %v, want one with %q", tc.reason, err, tc.want)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s\nStart(...): got error %v, want one that is %v", tc.reason, err, tc.is)
			}
		})
	}
}

// TestThousandWriters holds on to a version of google.golang.org/grpc that wakes up: 1.83 loses a wake-up on unix
// sockets under this load, and thousands of requests time out.
func TestThousandWriters(t *testing.T) {
	t.Parallel()

	const writers, each = 1000, 5
	dir := t.TempDir()
	stores := start(t, kine.NewConfig(filepath.Join(dir, "db")))
	defer stop(t, stores)
	etcd := client(t, stores.Objects)

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for w := range writers {
		group.Go(func() error {
			for n := range each {
				key := fmt.Sprintf("/registry/things/%04d-%d", w, n)
				if err := create(ctx, etcd, key, strings.Repeat("x", 1024)); err != nil {
					return fmt.Errorf("create %q after %s: %w", key, time.Since(began), err)
				}
			}

			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("No writer sees an error.\n%v", err)
	}
	t.Logf("%d writes in %s", writers*each, time.Since(began))

	found, err := etcd.Get(t.Context(), "/registry/things/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	if found.Count != writers*each {
		t.Errorf("No acknowledged write is lost.\nGet(prefix): got %d, want %d", found.Count, writers*each)
	}
}

func start(t *testing.T, cfg kine.Config) *kine.Stores {
	t.Helper()
	stores, err := kine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Start(...): %v", err)
	}

	return stores
}

func stop(t *testing.T, stores *kine.Stores) {
	t.Helper()
	if err := stores.Close(); err != nil {
		t.Errorf("Close(): %v", err)
	}
}

func client(t *testing.T, endpoint kine.Endpoint) *clientv3.Client {
	t.Helper()
	c, err := endpoint.Client()
	if err != nil {
		t.Fatalf("connect to %v: %v", endpoint.Servers, err)
	}
	t.Cleanup(func() { _ = c.Close() })

	return c
}

// create writes in the way of the API server; Kine serves no plain put.
func create(ctx context.Context, c *clientv3.Client, key, value string) error {
	answer, err := c.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, value)).
		Commit()
	if err != nil {
		return err
	}
	if !answer.Succeeded {
		return errors.New("exists")
	}

	return nil
}

func put(t *testing.T, c *clientv3.Client, value string) {
	t.Helper()
	if err := create(t.Context(), c, thing, value); err != nil {
		t.Fatalf("create %q: %v", thing, err)
	}
}

func get(t *testing.T, c *clientv3.Client) string {
	t.Helper()
	answer, err := c.Get(t.Context(), thing)
	if err != nil || len(answer.Kvs) != 1 {
		t.Fatalf("get %q: got %v, %v, want one value", thing, answer, err)
	}

	return string(answer.Kvs[0].Value)
}

func execute(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
