// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// confidential are objects of each kind that is stored encrypted, and more Secrets than are read at a time.
func confidential() []client.Object {
	objects := []client.Object{
		&gardencorev1beta1.InternalSecret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "hidden"}, Data: map[string][]byte{"key": []byte("value")},
		},
		&gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "state"}},
	}
	for i := range 520 {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("secret-%d", i)}, Data: map[string][]byte{"key": []byte("value")},
		})
	}

	return objects
}

// readConfidential reads all these objects, from the store and not from a cache.
func readConfidential(t *testing.T, g *harness.Garden) {
	t.Helper()
	for _, o := range confidential()[:12] {
		if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Errorf("read %T %q: %v", o, o.GetName(), err)
		}
	}
	secrets := &corev1.SecretList{}
	if err := g.Client.List(t.Context(), secrets, client.InNamespace("default"), client.Limit(1000)); err != nil || len(secrets.Items) < 520 {
		t.Errorf("list Secrets: %d, %v", len(secrets.Items), err)
	}
}

// keysOf returns the ids of the encryption keys in a data directory.
func keysOf(t *testing.T, dir string) []string {
	t.Helper()
	items, err := identity.Inspect(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, item := range items {
		if item.Name == "encryption" {
			keys = append(keys, item.Subject)
		}
	}

	return keys
}

// firstSnapshot returns the snapshot that a garden takes by itself half a minute after its start.
func firstSnapshot(t *testing.T, g *harness.Garden, clk *harness.Clock) *gardenappliancev1alpha1.Snapshot {
	t.Helper()
	clk.Step(time.Minute)
	taken := &gardenappliancev1alpha1.SnapshotList{}
	harness.Eventually(t, "the first snapshot", func(ctx context.Context) error {
		if err := g.Client.List(ctx, taken); err != nil {
			return err
		}
		if len(taken.Items) == 0 {
			return errSame
		}

		return nil
	})

	return &taken.Items[0]
}

// TestEncryptionKeyRotation changes the key with which objects are stored while the server runs, and stops the server between the
// steps. At the end all objects are readable without the former key [OPER-ROT-9].
func TestEncryptionKeyRotation(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	g := harness.Start(t, harness.WithClock(clk))
	// Many at once, so that all are there before the first snapshot is taken by itself.
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for _, o := range confidential() {
		group.Go(func() error { return g.Client.Create(ctx, o) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	former := keysOf(t, g.DataDir)[0]
	old := firstSnapshot(t, g, clk)
	count := keepCounting(t, g)
	if status, out, errs := terrarium(t, "certificate", "rotate-encryption-key", "--follow", "--data-dir", g.DataDir); status != 0 || !strings.Contains(errs, "No rotation") {
		t.Errorf("follow: status %d\n%s%s", status, out, errs)
	}

	status, out, errs := terrarium(t, "certificate", "rotate-encryption-key", "--data-dir", g.DataDir)
	if status != 0 || !strings.Contains(errs, "All objects are stored with") {
		t.Fatalf("rotate: status %d\n%s%s", status, out, errs)
	}
	if keys := keysOf(t, g.DataDir); len(keys) != 2 || keys[1] != former {
		t.Errorf("the former key is kept for reading: got %q", keys)
	}
	if status, out, errs := terrarium(t, "certificate", "rotate-encryption-key", "--data-dir", g.DataDir); status != 1 || !strings.Contains(errs, "a rotation has begun") {
		t.Errorf("rotate again: status %d\n%s%s", status, out, errs)
	}
	readConfidential(t, g)
	count()
	taken := &gardenappliancev1alpha1.SnapshotList{}
	if err := g.Client.List(t.Context(), taken); err != nil || len(taken.Items) != 2 {
		t.Fatalf("a snapshot is taken before the new key is used: got %d, %v", len(taken.Items), err)
	}
	both := taken.Items[slices.IndexFunc(taken.Items, func(s gardenappliancev1alpha1.Snapshot) bool { return s.Name != old.Name })]

	clk.Step(61 * time.Minute)
	harness.Eventually(t, "the former key to be removed", func(context.Context) error {
		if keys := keysOf(t, g.DataDir); len(keys) != 1 || keys[0] == former {
			return fmt.Errorf("%w: %q", errSame, keys)
		}
		if _, err := os.Stat(filepath.Join(g.DataDir, "pki", "encryption-rotation.json")); !errors.Is(err, os.ErrNotExist) {
			return errSame
		}

		return nil
	})
	readConfidential(t, g)
	if data, err := raw(t, g, "/appliance/certificates", ""); err != nil || json.Valid(data) && strings.Contains(string(data), `"encryption":{`) {
		t.Errorf("no rotation goes on: %s, %v", data, err)
	}
	if err := g.Client.List(t.Context(), taken); err != nil || len(taken.Items) != 3 {
		t.Errorf("a snapshot is taken after the former key was removed: got %d, %v", len(taken.Items), err)
	}
	g.Stop(t)
	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	readConfidential(t, again)
	again.Stop(t)
	for name, keys := range map[string]int{old.Name: 1, both.Name: 2} {
		restored := harness.Start(t, harness.WithDataDir(restore(t, g.DataDir, name)))
		readConfidential(t, restored)
		// A rotation that the snapshot was taken in goes on, and the former key comes last then.
		harness.Eventually(t, "the keys of snapshot "+name, func(context.Context) error {
			if got := keysOf(t, restored.DataDir); len(got) < keys || got[len(got)-1] != former {
				return fmt.Errorf("%w: %q", errSame, got)
			}

			return nil
		})
		restored.Stop(t)
	}
}

// keepCounting changes a Secret over and over until the returned function is called, which finds that no change was lost.
func keepCounting(t *testing.T, g *harness.Garden) func() {
	t.Helper()
	counter := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "counter"}}
	if err := g.Client.Create(t.Context(), counter); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	count := make(chan int, 1)
	go func() {
		n := 0
		for ctx.Err() == nil {
			counter.Data = map[string][]byte{"count": []byte(strconv.Itoa(n + 1))}
			err := g.Client.Update(t.Context(), counter) //nolint:contextcheck // It is the context of the test.
			if apierrors.IsConflict(err) {
				// The object was written anew. What is in it must be what was written last.
				if err = g.Client.Get(t.Context(), client.ObjectKeyFromObject(counter), counter); err == nil && n > 0 && string(counter.Data["count"]) != strconv.Itoa(n) { //nolint:contextcheck // It is the context of the test.
					err = fmt.Errorf("%w: %q instead of %d", errSame, counter.Data["count"], n)
				}
				n--
			}
			if err != nil {
				t.Errorf("count to %d: %v", n+1, err)

				break
			}
			n++
		}
		count <- n
	}()

	return func() {
		t.Helper()
		stop()
		n := <-count
		if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(counter), counter); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string][]byte{"count": []byte(strconv.Itoa(n))}, counter.Data); diff != "" {
			t.Errorf("counted while the key was changed, and stored (-want +got):\n%s", diff)
		}
	}
}

// restore restores a snapshot of a garden, and returns the new data directory.
func restore(t *testing.T, from, name string) string {
	t.Helper()
	keys, err := backup.ReadKey(filepath.Join(from, backup.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	_, err = backup.Restore{
		DataDir: dir, Store: backup.ReadFolder(filepath.Join(from, "snapshots")), Identities: keys.Identities, Now: time.Now(),
		Want: backup.Target{Name: name},
		Lock: func(dir string) (func() error, error) {
			lock, err := identity.LockDirectory(dir)
			if err != nil {
				return nil, err
			}

			return lock.Release, nil
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatalf("restore snapshot %q: %v", name, err)
	}

	return dir
}

// TestEncryptionKeyRotationGoesOn stops the server after each step of a rotation but the last ones.
func TestEncryptionKeyRotationGoesOn(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	for _, o := range confidential() {
		if err := g.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	former := keysOf(t, g.DataDir)[0]
	for steps := range 3 {
		g.Stop(t)
		advance(t, g.DataDir, steps)
		clk := harness.NewClock(t)
		g = harness.Start(t, harness.WithDataDir(g.DataDir), harness.WithClock(clk))
		status, out, errs := terrarium(t, "certificate", "rotate-encryption-key", "--follow", "--data-dir", g.DataDir)
		if status != 0 || !strings.Contains(errs, "All objects are stored with") {
			t.Fatalf("after %d steps: status %d\n%s%s", steps, status, out, errs)
		}
		clk.Step(61 * time.Minute)
		harness.Eventually(t, "the former key to be removed", func(context.Context) error {
			if keys := keysOf(t, g.DataDir); len(keys) != 1 || keys[0] == former {
				return fmt.Errorf("%w: %q", errSame, keys)
			}

			return nil
		})
		former = keysOf(t, g.DataDir)[0]
		g.Stop(t)
		g = harness.Start(t, harness.WithDataDir(g.DataDir))
		readConfidential(t, g)
	}
}

// advance begins a rotation in the files of a garden that does not run, and takes some steps without doing what they are about, as if
// the process had ended there.
func advance(t *testing.T, dir string, steps int) {
	t.Helper()
	names, err := identity.LocalNames()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := identity.Ensure(dir, names, harness.NewClock(t))
	if err != nil {
		t.Fatal(err)
	}
	err = keys.Changes.StartEncryptionRotation(time.Now())
	for _, step := range []identity.EncryptionStep{identity.EncryptionAdd, identity.EncryptionWrite}[:steps] {
		err = errors.Join(err, keys.Changes.AdvanceEncryptionRotation(step, time.Now()))
	}
	if err = errors.Join(err, keys.Close()); err != nil {
		t.Fatal(err)
	}
}
