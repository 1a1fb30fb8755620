// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestUpgrade starts the next minor version on a garden: it is saved first, and migrated. Versions that nobody has tried with the
// directory do not start on it, and the snapshot is the way back to the version before.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	before := harness.Start(t, harness.WithDataDir(dir), harness.WithVersion("v0.1.3"))
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "kept"}}
	if err := before.Client.Create(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	before.Stop(t)
	if diff := cmp.Diff(identity.Use{Schema: 1, Version: "v0.1.3"}, use(t, dir)); diff != "" {
		t.Errorf("The first version (-want +got):\n%s", diff)
	}
	if err := refused(t, dir, "v0.3.0"); !errors.Is(err, upgrade.ErrSkipped) {
		t.Errorf("A skipped version: %v", err)
	}

	saved := filepath.Join(dir, "snapshots")
	migration := upgrade.Migration{To: 2, Name: "a file", Run: func(ctx context.Context, dir string) error {
		if found, err := backup.ReadFolder(saved).List(ctx); err != nil || len(found) != 1 {
			t.Errorf("At the migration there are the snapshots %v, %v; want one", found, err)
		}

		return os.WriteFile(filepath.Join(dir, "migrated"), nil, 0o600)
	}}
	after := harness.Start(t, harness.WithDataDir(dir), harness.WithVersion("v0.2.0", migration))
	if after.ClusterIdentity != before.ClusterIdentity {
		t.Errorf("It is the garden %q, and was %q.", after.ClusterIdentity, before.ClusterIdentity)
	}
	if err := after.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), &corev1.ConfigMap{}); err != nil {
		t.Errorf("After the upgrade: %v", err)
	}
	shown := directoryStatus(t, after)
	after.Stop(t)
	is := use(t, dir)
	if is.Upgraded == nil || is.Upgraded.Snapshot == "" {
		t.Fatalf("After the upgrade the directory says %+v; want a snapshot from before", is)
	}
	snapshot := is.Upgraded.Snapshot
	want := identity.Use{Schema: 2, Version: "v0.2.0", Upgraded: &identity.Upgrade{From: "v0.1.3", To: "v0.2.0", Snapshot: snapshot}}
	for where, found := range map[string]identity.Use{"directory": is, "status": shown} {
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("The %s says (-want +got):\n%s", where, diff)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "migrated")); err != nil {
		t.Errorf("The migration: %v", err)
	}
	err := refused(t, dir, "v0.1.3")
	if !errors.Is(err, upgrade.ErrDowngrade) || !strings.Contains(err.Error(), snapshot) {
		t.Errorf("The version before: %v; want that it says the snapshot %q", err, snapshot)
	}

	goBack(t, dir, snapshot)
	again := harness.Start(t, harness.WithDataDir(dir), harness.WithVersion("v0.1.3"))
	if err := again.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), &corev1.ConfigMap{}); err != nil {
		t.Errorf("After the way back: %v", err)
	}
}

// TestUpgradeWithoutSnapshot changes nothing where the garden cannot be saved, until the operator says that this does not matter.
func TestUpgradeWithoutSnapshot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	harness.Start(t, harness.WithDataDir(dir), harness.WithVersion("v0.1.0")).Stop(t)
	nowhere := func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Snapshots.Directory = filepath.Join(dir, "lock", "snapshots")
	}
	err := refused(t, dir, "v0.2.0", nowhere)
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("Without a place for the snapshot: %v", err)
	}
	elsewhere := func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Datastore.Endpoint = "http://127.0.0.1:1" }
	if err := refused(t, dir, "v0.2.0", elsewhere); err == nil || !strings.Contains(err.Error(), "upgrade.skipSnapshot") {
		t.Errorf("With a datastore of which there are no snapshots: %v", err)
	}
	if diff := cmp.Diff(identity.Use{Schema: 1, Version: "v0.1.0"}, use(t, dir)); diff != "" {
		t.Errorf("The directory was changed (-want +got):\n%s", diff)
	}
	g := harness.Start(t, harness.WithDataDir(dir), harness.WithVersion("v0.2.0"), harness.WithConfig(nowhere),
		harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Upgrade.SkipSnapshot = true }))
	if log := g.Log(); !strings.Contains(log, "upgraded without a snapshot") {
		t.Errorf("The log does not warn:\n%s", log)
	}
}

// refused starts a version on a data directory, and returns why it ends.
func refused(t *testing.T, dir, version string, change ...func(*gardenconfigv1alpha1.ServerConfiguration)) error {
	t.Helper()
	c := &gardenconfigv1alpha1.ServerConfiguration{}
	c.SetDefaults()
	c.DataDir, c.Listen = dir, "127.0.0.1:0"
	for _, f := range change {
		f(c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	return server.Run(ctx, server.Options{Config: c, Log: logr.Discard(), Version: version, Ready: func(server.Garden) {
		t.Errorf("Version %s starts on the directory.", version)
		cancel()
	}})
}

func use(t *testing.T, dir string) identity.Use {
	t.Helper()
	is, used, err := identity.ReadUse(dir)
	if err != nil || !used {
		t.Fatalf("read version of data directory: %v, %v", used, err)
	}

	return is
}

func directoryStatus(t *testing.T, g *harness.Garden) identity.Use {
	t.Helper()
	c, err := rest.HTTPClientFor(g.Config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Get(g.Server + "/appliance/status") //nolint:noctx // It ends with the garden.
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // It was read.
	var status struct {
		Directory identity.Use `json:"directory"`
	}
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}

	return status.Directory
}

// goBack restores a snapshot in the place of a data directory, as terrarium snapshot restore --force does.
func goBack(t *testing.T, dir, snapshot string) {
	t.Helper()
	keys, err := backup.ReadKey(filepath.Join(dir, backup.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (backup.Restore{
		DataDir: dir, Force: true, Store: backup.ReadFolder(filepath.Join(dir, "snapshots")), Identities: keys.Identities, Now: time.Now(),
		Want: backup.Target{Name: snapshot},
		Lock: func(dir string) (func() error, error) {
			lock, err := identity.LockDirectory(dir)
			if err != nil {
				return nil, err
			}

			return lock.Release, nil
		},
	}).Run(t.Context()); err != nil {
		t.Fatalf("restore: %v", err)
	}
}
