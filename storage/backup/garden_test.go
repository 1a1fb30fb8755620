// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/go-logr/logr"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/tests/objectstore"
)

// start is when the tests take place.
var start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// garden is two databases and what else is saved of them.
type garden struct {
	tb              testing.TB
	objects, events *log.Log
	keys            Keys
	folder          *Folder
	clock           *testingclock.FakeClock
	source          Source
}

func newGarden(tb testing.TB, change func(*log.Config)) *garden {
	tb.Helper()
	dir := tb.TempDir()
	g := &garden{tb: tb, clock: testingclock.NewFakeClock(start)}
	open := func(name string) *log.Log {
		c := log.NewConfig(filepath.Join(dir, "db", name))
		if change != nil {
			change(&c)
		}
		l, err := log.Open(tb.Context(), c)
		if err != nil {
			tb.Fatalf("open log: %v", err)
		}
		tb.Cleanup(func() {
			if err := l.Close(); err != nil {
				tb.Errorf("close log: %v", err)
			}
		})

		return l
	}
	g.objects, g.events = open("objects.db"), open("events.db")
	var err error
	if g.keys, err = EnsureKey(dir); err != nil {
		tb.Fatal(err)
	}
	if g.folder, err = NewFolder(filepath.Join(dir, "snapshots")); err != nil {
		tb.Fatal(err)
	}
	g.source = Source{
		Objects: g.objects, Events: g.events, Version: "v1", Now: g.clock.Now,
		Files: func() (map[string][]byte, error) {
			return map[string][]byte{"layout": []byte("2\n"), "pki/server-ca.key": []byte("secret")}, nil
		},
		Garden: func() string { return "garden-1" },
	}

	return g
}

func (g *garden) put(l *log.Log, key, value string) int64 {
	g.tb.Helper()
	result, err := l.Write(g.tb.Context(), log.Change{Key: key, Value: fmt.Appendf(nil, "%q", value), Revision: l.Head(key)})
	if err != nil || !result.Applied {
		g.tb.Fatalf("write %q: applied %t, %v", key, result.Applied, err)
	}

	return result.Revision
}

func (g *garden) remove(l *log.Log, key string) {
	g.tb.Helper()
	if _, err := l.Write(g.tb.Context(), log.Change{Key: key, Delete: true, Revision: log.Any}); err != nil {
		g.tb.Fatal(err)
	}
}

func (g *garden) save() Entry {
	g.tb.Helper()
	g.clock.Step(time.Minute)
	made, err := g.source.save(g.tb.Context(), g.folder, g.keys)
	if err != nil {
		g.tb.Fatalf("save: %v", err)
	}

	return made
}

func (g *garden) ship(last Entry) Entry {
	g.tb.Helper()
	g.clock.Step(time.Minute)
	made, some, err := g.source.ship(g.tb.Context(), g.folder, g.keys, last)
	if err != nil || !some {
		g.tb.Fatalf("ship: %t, %v", some, err)
	}

	return made
}

// keeper returns a keeper of the garden's folder.
func (g *garden) keeper(change func(*Config)) *Keeper {
	c := Config{
		Source: g.source, Keys: g.keys, Open: func(context.Context) (Store, error) { return g.folder, nil },
		Interval: 12 * time.Hour, Increments: 30 * time.Second, Retention: Retention{Keep: 5, Window: 24 * time.Hour},
		Clock: g.clock, Log: logr.Discard(),
	}
	if change != nil {
		change(&c)
	}

	return NewKeeper(c)
}

// restore restores into a new directory.
func (g *garden) restore(change func(*Restore)) (string, Restored, error) {
	g.tb.Helper()
	r := Restore{
		DataDir: filepath.Join(g.tb.TempDir(), "data"), Store: g.folder, Identities: g.keys.Identities, Now: start,
		Lock: func(string) (func() error, error) { return func() error { return nil }, nil },
	}
	if change != nil {
		change(&r)
	}
	done, err := r.Run(g.tb.Context())

	return r.DataDir, done, err
}

// state is what a log holds: values and revisions by keys.
func state(tb testing.TB, l *log.Log) map[string]string {
	tb.Helper()
	list, err := l.List(tb.Context(), log.Read{Range: log.Range{Key: "/", End: "0"}})
	if err != nil {
		tb.Fatal(err)
	}
	found := map[string]string{}
	for _, r := range list.Records {
		found[r.Key] = fmt.Sprintf("%s created %d changed %d lease %d until %d", r.Value, r.Created, r.Revision, r.Lease, r.Expires)
	}

	return found
}

// opened opens a database of a restored directory.
func opened(tb testing.TB, dir, name string) *log.Log {
	tb.Helper()
	l, err := log.Open(tb.Context(), log.NewConfig(filepath.Join(dir, "db", name)))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})

	return l
}

// files are the files in a directory, and nothing of a restore may be left beside it.
func leftovers(tb testing.TB, dir string) []string {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))
	if err != nil {
		tb.Fatal(err)
	}

	return found
}

// otherKey is a key that opens nothing.
func otherKey(tb testing.TB) []age.Identity {
	tb.Helper()
	made, err := age.GenerateX25519Identity()
	if err != nil {
		tb.Fatal(err)
	}

	return []age.Identity{made}
}

// fullStore is a destination whose disk is full after some bytes.
type fullStore struct {
	*Folder

	left int
}

func (s *fullStore) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return s.Folder.Put(ctx, name, func(w io.Writer) error { return write(&fullWriter{to: w, left: s.left}) })
}

type fullWriter struct {
	to   io.Writer
	left int
}

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, fmt.Errorf("write: %w", errNoSpace)
	}

	return w.to.Write(p)
}

// names are the files of a folder.
func names(tb testing.TB, f *Folder) []string {
	tb.Helper()
	all, err := os.ReadDir(f.dir)
	if err != nil {
		tb.Fatal(err)
	}
	var found []string
	for _, e := range all {
		found = append(found, strings.TrimSuffix(e.Name(), Extension))
	}

	return found
}

// mustList are the files of a folder.
func mustList(tb testing.TB, f *Folder) []Entry {
	tb.Helper()
	all, err := f.List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}

	return all
}

// objectStore is a server of S3 over TLS, which checks signatures.
type objectStore struct {
	*objectstore.Server

	config BucketConfig
}

func newObjectStore(tb testing.TB) *objectStore {
	tb.Helper()
	s := objectstore.New(tb)

	return &objectStore{s, BucketConfig{
		Endpoint: s.URL, Bucket: objectstore.Bucket, Prefix: "one", Region: "eu-1", CredentialsFile: s.CredentialsFile, CAFile: s.CAFile, PartBytes: 5 << 20,
	}}
}

func writeTest(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// cutOff ends the connection of a request.
func cutOff(http.ResponseWriter) bool {
	panic(http.ErrAbortHandler)
}
