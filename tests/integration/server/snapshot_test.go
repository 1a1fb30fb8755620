// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestSnapshotOfAGarden takes a snapshot over the API, restores it into another directory, and starts the garden on another
// port: it is the same garden, with the same objects, and no client can mistake its revisions for those that were lost.
func TestSnapshotOfAGarden(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "kept"}, Data: map[string][]byte{"key": []byte("value")},
	}
	if err := g.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	made := &gardenappliancev1alpha1.Snapshot{}
	if err := g.Client.Create(t.Context(), made); err != nil {
		t.Fatalf("take snapshot: %v", err)
	}
	if made.Name == "" || made.Status.Objects == 0 || made.Status.ClusterIdentity != g.ClusterIdentity {
		t.Fatalf("Taken: %+v", made)
	}
	list := &gardenappliancev1alpha1.SnapshotList{}
	if err := g.Client.List(t.Context(), list); err != nil || len(list.Items) != 1 || list.Items[0].Name != made.Name {
		t.Errorf("List: %+v, %v", list.Items, err)
	}
	if err := g.Client.Delete(t.Context(), made); !apierrors.IsConflict(err) {
		t.Errorf("The newest snapshot stays: %v", err)
	}
	for _, who := range []client.Client{g.As(t, "somebody", "system:authenticated"), g.As(t, "gardener.cloud:system:seed:one", "gardener.cloud:system:seeds", "system:authenticated")} {
		if err := who.List(t.Context(), list); !apierrors.IsForbidden(err) {
			t.Errorf("Others list snapshots: %v", err)
		}
		if err := who.Create(t.Context(), &gardenappliancev1alpha1.Snapshot{}); !apierrors.IsForbidden(err) {
			t.Errorf("Others take snapshots: %v", err)
		}
	}
	// What is written after the snapshot is lost.
	lost := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "lost"}}
	if err := g.Client.Create(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	g.Stop(t)

	keys, err := backup.ReadKey(filepath.Join(g.DataDir, backup.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	done, err := backup.Restore{
		DataDir: dir, Store: backup.ReadFolder(filepath.Join(g.DataDir, "snapshots")), Identities: keys.Identities, Now: time.Now(),
		Want: backup.Target{Name: made.Name},
		Lock: func(dir string) (func() error, error) {
			lock, err := identity.LockDirectory(dir)
			if err != nil {
				return nil, err
			}

			return lock.Release, nil
		},
	}.Run(t.Context())
	if err != nil || done.Objects != made.Status.Objects {
		t.Fatalf("Restored: %+v, %v", done, err)
	}

	again := harness.Start(t, harness.WithDataDir(dir))
	if again.ClusterIdentity != g.ClusterIdentity || string(again.CA) != string(g.CA) {
		t.Error("It is another garden.")
	}
	found := &corev1.Secret{}
	if err := again.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(secret, found); diff != "" {
		t.Errorf("The object is the one that was saved, its resource version included (-want +got):\n%s", diff)
	}
	if err := again.Client.Get(t.Context(), client.ObjectKeyFromObject(lost), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("Written after the snapshot: %v", err)
	}
	// A client that saw what was lost has to read anew.
	watch, err := again.Client.Watch(t.Context(), &corev1.ConfigMapList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: lost.ResourceVersion}})
	if err == nil {
		defer watch.Stop()
		event := <-watch.ResultChan()
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("A watch from a revision that was lost: %v", err)
	}
}
