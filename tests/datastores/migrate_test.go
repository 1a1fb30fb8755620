// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/migrate"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestMigrate brings a garden from SQLite to PostgreSQL, from there to MySQL and to an etcd, and back to SQLite.
func TestMigrate(t *testing.T) {
	t.Parallel()

	p, m, e := newPostgres(t, nil), newMySQL(t, nil), newEtcd(t, nil)
	dir := t.TempDir()
	withPostgres, withMySQL := filepath.Join(t.TempDir(), "server.yaml"), filepath.Join(t.TempDir(), "server.yaml")
	for file, endpoint := range map[string]string{withPostgres: p.endpoint("two"), withMySQL: m.endpoint("two")} {
		write(t, file, []byte("apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\ndatastore:\n  endpoint: "+endpoint+"\n"))
	}

	g := harness.Start(t, harness.WithDataDir(dir))
	notes := write100(t, g)
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "happened"}, Reason: "Test",
		InvolvedObject: corev1.ObjectReference{Kind: "Secret", Namespace: "default", Name: "note-001"},
	}
	if err := g.Client.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	identity, newest := g.ClusterIdentity, newestVersion(t, g)
	if _, err := migrateTo(t, dir, "sqlite", withPostgres); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("A running server keeps its datastore.\nmigrate-datastore: got %v", err)
	}
	g.Stop(t)

	for _, step := range []struct {
		from, to string
		option   harness.Option
	}{
		{"sqlite", withPostgres, on(p.endpoint("two"), nil)},
		{withPostgres, withMySQL, on(m.endpoint("two"), nil)},
		{withMySQL, e.endpoint(), on(e.endpoint(), nil)},
		{e.endpoint(), "sqlite", on("", nil)},
	} {
		if step.to == "sqlite" {
			if _, err := migrateTo(t, dir, step.from, step.to); err == nil || !strings.Contains(err.Error(), "not empty") {
				t.Errorf("The old databases are not written over.\nmigrate-datastore: got %v", err)
			}
			if err := os.Rename(filepath.Join(dir, "db"), filepath.Join(dir, "db.old")); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := migrateTo(t, dir, step.from, step.to); err != nil || strings.Contains(text, password) {
			t.Fatalf("migrate-datastore --from %s --to %s: got %v\n%s", step.from, step.to, err, text)
		}
		if _, err := migrateTo(t, dir, step.from, step.to); err == nil || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("A migration is not repeated over its own result.\nmigrate-datastore: got %v", err)
		}
		g = harness.Start(t, harness.WithDataDir(dir), step.option)
		if diff := cmp.Diff(notes, read(t, g)); diff != "" {
			t.Errorf("Nothing is lost from %s to %s (-want +got):\n%s", step.from, step.to, diff)
		}
		if g.ClusterIdentity != identity {
			t.Errorf("It is the same garden: got %q, want %q", g.ClusterIdentity, identity)
		}
		if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(event), &corev1.Event{}); err != nil {
			t.Errorf("Events are there, too: %v", err)
		}
		if now := oldestVersion(t, g); now <= newest {
			t.Errorf("Resource versions never go back.\nfrom %s to %s: got %d after %d", step.from, step.to, now, newest)
		}
		work(t, g)
		newest = newestVersion(t, g)
		g.Stop(t)
	}
}

// migrateTo runs the command as an operator does.
// TestMigrateOlderKeys moves a garden with the directory of a server that was off while keys were changed: nobody could read the copy.
func TestMigrateOlderKeys(t *testing.T) {
	t.Parallel()
	e := newEtcd(t, nil)
	dir := t.TempDir()
	g := harness.Start(t, harness.WithDataDir(dir), on(e.endpoint(), nil))
	g.Stop(t)
	d := generations.Datastore{Client: connect(t, e.endpoint())}
	was, err := d.Read(t.Context())
	if err != nil || was == nil {
		t.Fatalf("Read(): got %v, %v", was, err)
	}
	newer := *was
	newer.Generation++
	if err := d.Replace(t.Context(), was, newer); err != nil {
		t.Fatal(err)
	}
	if _, err := migrateTo(t, dir, e.endpoint(), "sqlite"); err == nil || !strings.Contains(err.Error(), "start this server once") {
		t.Errorf("Only who has the newest keys takes the garden along.\nmigrate-datastore: got %v", err)
	}
	now, err := d.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Replace(t.Context(), now, *was); err != nil {
		t.Fatal(err)
	}
	if text, err := migrateTo(t, dir, e.endpoint(), "sqlite"); err != nil {
		t.Errorf("Who has them does.\nmigrate-datastore: got %v\n%s", err, text)
	}
}

func migrateTo(t *testing.T, dir, from, to string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	status := cli.Main(t.Context(), cli.Environment{
		In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
	}, []string{"migrate-datastore", "--data-dir", dir, "--from", from, "--to", to})
	if status != 0 {
		return out.String(), errors.New(out.String())
	}

	return out.String(), nil
}

// TestMigrateAsRoot moves the garden of a service that is another user, there and back. The service can read what root has made.
func TestMigrateAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can work on the data directory of another user")
	}
	const service = 65534
	e := newEtcd(t, nil)
	g := harness.Start(t)
	g.Stop(t)
	each := func(visit func(path string, info fs.FileInfo) error) {
		t.Helper()
		err := filepath.WalkDir(g.DataDir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}

			return visit(path, info)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	each(func(path string, _ fs.FileInfo) error { return os.Lchown(path, service, service) })
	for _, step := range [][2]string{{"sqlite", e.endpoint()}, {e.endpoint(), "sqlite"}} {
		if step[1] == "sqlite" {
			if err := os.Rename(filepath.Join(g.DataDir, "db"), filepath.Join(g.DataDir, "db.old")); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := migrateTo(t, g.DataDir, step[0], step[1]); err != nil {
			t.Fatalf("migrate-datastore --from %s --to %s: got %v\n%s", step[0], step[1], err, text)
		}
		var ofRoot []string
		each(func(path string, info fs.FileInfo) error {
			if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Uid != service {
				ofRoot = append(ofRoot, path)
			}

			return nil
		})
		if diff := cmp.Diff([]string(nil), ofRoot); diff != "" {
			t.Errorf("migrate-datastore --from %s --to %s leaves files of root (-want +got):\n%s", step[0], step[1], diff)
		}
	}
}

// newestVersion is the version of an object that is written now.
func newestVersion(t *testing.T, g *harness.Garden) int64 {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "newest-"}}
	if err := g.Client.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}

	return version(t, object)
}

// oldestVersion is the smallest version of all notes.
func oldestVersion(t *testing.T, g *harness.Garden) int64 {
	t.Helper()
	list := &corev1.SecretList{}
	if err := g.Client.List(t.Context(), list, client.MatchingLabels{"note": "yes"}); err != nil || len(list.Items) == 0 {
		t.Fatalf("list: got %d, %v", len(list.Items), err)
	}
	oldest := version(t, &list.Items[0])
	for i := range list.Items {
		oldest = min(oldest, version(t, &list.Items[i]))
	}

	return oldest
}

func version(t *testing.T, object client.Object) int64 {
	t.Helper()
	n, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	return n
}

// TestMigrateInterrupted ends a migration half way: the source is as it was, no garden begins on the target, and the migration can start
// over.
func TestMigrateInterrupted(t *testing.T) {
	t.Parallel()

	e := newEtcd(t, nil)
	dir := filepath.Join(t.TempDir(), "db")
	from := kine.NewConfig(dir)
	stores, err := kine.Start(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	c, err := stores.Objects.Client()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		key := "/registry/things/" + strconv.Itoa(n)
		if _, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).Then(clientv3.OpPut(key, key)).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Close(), stores.Close()); err != nil {
		t.Fatal(err)
	}
	to := kine.NewConfig("")
	to.Endpoint = e.endpoint()
	m := migrate.Migration{From: migrate.Side{Config: from}, To: migrate.Side{Config: to}, Owner: "me", Progress: func(string) {}}

	ctx, cancel := context.WithCancel(t.Context())
	m.Progress = func(text string) {
		if strings.HasPrefix(text, "Comparing") {
			cancel()
		}
	}
	if _, err := m.Run(ctx); err == nil {
		t.Fatal("The migration was interrupted, but has no error.")
	}
	m.Progress = func(string) {}
	if _, err := m.Run(t.Context()); !errors.Is(err, migrate.ErrInterrupted) {
		t.Fatalf("What is there is not written over.\nRun(...): got %v, want %v", err, migrate.ErrInterrupted)
	}
	target, err := kine.Start(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	owner, empty, err := target.Owner(t.Context())
	if err != nil || owner != "" || empty {
		t.Errorf("A part of a copy belongs to nobody.\nOwner(...): got %q, %t, %v", owner, empty, err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
	m.StartOver = true
	done, err := m.Run(t.Context())
	if err != nil || done.Objects != 300 || done.ToRevision <= done.FromRevision {
		t.Errorf("It can start over.\nRun(...): got %+v, %v", done, err)
	}
	if _, err := m.Run(t.Context()); !errors.Is(err, migrate.ErrNotEmpty) {
		t.Errorf("A garden is never removed, even by starting over.\nRun(...): got %v, want %v", err, migrate.ErrNotEmpty)
	}
}
