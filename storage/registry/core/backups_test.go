// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

const operation = "gardener.cloud/operation"

type (
	bucket = gardencorev1beta1.BackupBucket
	entry  = gardencorev1beta1.BackupEntry
)

func newBucket() *bucket {
	return &bucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}, SeedName: new("local"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "key"},
	}}
}

func TestBackupBucketGeneration(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*bucket)
		grows  bool
		left   string
	}{
		"API-STRAT-2 label":     {"a label is no new generation", func(b *bucket) { b.Labels = map[string]string{"a": "b"} }, false, ""},
		"API-STRAT-2 spec":      {"the spec is one", func(b *bucket) { b.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte("{}")} }, true, ""},
		"API-STRAT-4 reconcile": {"reconcile is one and goes", func(b *bucket) { metav1.SetMetaDataAnnotation(&b.ObjectMeta, operation, "reconcile") }, true, ""},
		"API-STRAT-4 another":   {"another operation is not", func(b *bucket) { metav1.SetMetaDataAnnotation(&b.ObjectMeta, operation, "dance") }, false, "dance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, "", "rose")
			buckets := kindtest.Of[*bucket](t, served(t), "backupbuckets")
			b := buckets.MustCreate(ctx, newBucket())
			tc.change(b)
			b = buckets.MustUpdate(ctx, b)
			if (b.Generation == 2) != tc.grows || b.Annotations[operation] != tc.left {
				t.Errorf("%s\ngeneration %d, operation %q; want grown %t, %q", tc.reason, b.Generation, b.Annotations[operation], tc.grows, tc.left)
			}
		})
	}
}

func TestBackupBucketStores(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	all := served(t)
	buckets, status := kindtest.Of[*bucket](t, all, "backupbuckets"), kindtest.Of[*bucket](t, all, "backupbuckets/status")
	given := newBucket()
	given.Status.ObservedGeneration = 7
	b := buckets.MustCreate(ctx, given)
	if b.Status.ObservedGeneration != 0 || b.Generation != 1 {
		t.Errorf("API-STRAT-1: a new bucket has no status and generation 1, got %d, %d", b.Status.ObservedGeneration, b.Generation)
	}
	want := map[string]string{"Provider": "local", "Seed": "local", "Operation": "<pending>", "Progress": "0"}
	if diff := cmp.Diff(want, buckets.Row(ctx, b)); diff != "" {
		t.Errorf("API-RES-11: cells of a new bucket (-want +got):\n%s", diff)
	}
	b.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte("{}")}
	b.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Processing", Progress: 50}
	b = status.MustUpdate(ctx, b)
	if b.Spec.ProviderConfig != nil || b.Generation != 1 {
		t.Errorf("API-RES-7: a status writer does not change the spec, got %v, generation %d", b.Spec.ProviderConfig, b.Generation)
	}
	want["Operation"], want["Progress"] = "Processing", "50"
	if diff := cmp.Diff(want, buckets.Row(ctx, b)); diff != "" {
		t.Errorf("API-RES-11: cells of a bucket in the making (-want +got):\n%s", diff)
	}
	b.ResourceVersion = ""
	if _, err := buckets.Update(ctx, b); !apierrors.IsInvalid(err) {
		t.Errorf("API-STRAT-8: an update says what it changes, got %v", err)
	}
}

func TestBackupEntryGeneration(t *testing.T) {
	t.Parallel()
	asked := func(e *entry, value string) {
		delete(e.Annotations, operation)
		if value != "" {
			metav1.SetMetaDataAnnotation(&e.ObjectMeta, operation, value)
		}
	}
	const force = "backupentry.core.gardener.cloud/force-deletion"
	forced := func(value string) func(*entry) {
		return func(e *entry) { metav1.SetMetaDataAnnotation(&e.ObjectMeta, force, value) }
	}
	for name, tc := range map[string]struct {
		reason        string
		before, after func(*entry)
		grows         bool
		left          string
	}{
		"API-STRAT-5 reconcile":    {"an operation counts and goes", nil, func(e *entry) { asked(e, "reconcile") }, true, ""},
		"API-STRAT-5 migrate":      {"so does migrate", nil, func(e *entry) { asked(e, "migrate") }, true, ""},
		"API-STRAT-5 unknown":      {"so does one that nobody knows", nil, func(e *entry) { asked(e, "dance") }, true, ""},
		"API-STRAT-5 none":         {"no operation does not count", nil, func(e *entry) { asked(e, "") }, false, ""},
		"API-STRAT-5 instead":      {"another operation takes the place of restore", func(e *entry) { asked(e, "restore") }, func(e *entry) { asked(e, "reconcile") }, true, ""},
		"API-STRAT-5 restore":      {"except for restore, which stays", nil, func(e *entry) { asked(e, "restore") }, true, "restore"},
		"API-STRAT-5 restore once": {"and counts once", func(e *entry) { asked(e, "restore") }, func(*entry) {}, false, "restore"},
		"API-STRAT-5 removed":      {"its end does not count", func(e *entry) { asked(e, "restore") }, func(e *entry) { asked(e, "") }, false, ""},
		"API-STRAT-5 force":        {"deletion by force counts", nil, forced("true"), true, ""},
		"API-STRAT-5 force once":   {"once", forced("true"), forced("1"), false, ""},
		"API-STRAT-5 no force":     {"when it is true", nil, forced("maybe"), false, ""},
		"API-STRAT-2 spec":         {"a move counts", nil, func(e *entry) { e.Spec.SeedName = new("other") }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, "garden-meadow", "rose")
			entries := kindtest.Of[*entry](t, served(t), "backupentries")
			given := &entry{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "e"}, Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("one")}}
			if tc.before != nil {
				tc.before(given)
			}
			e := entries.MustCreate(ctx, given)
			tc.after(e)
			e = entries.MustUpdate(ctx, e)
			if (e.Generation == 2) != tc.grows || e.Annotations[operation] != tc.left {
				t.Errorf("%s\ngeneration %d, operation %q; want grown %t, %q", tc.reason, e.Generation, e.Annotations[operation], tc.grows, tc.left)
			}
		})
	}
}

func TestBackupEntryLabels(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	all := served(t)
	entries, status := kindtest.Of[*entry](t, all, "backupentries"), kindtest.Of[*entry](t, all, "backupentries/status")
	e := entries.MustCreate(ctx, &entry{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "e", Labels: map[string]string{"name.seed.gardener.cloud/forged": "true", "mine": "yes"}},
		Spec:       gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("new")},
	})
	e.Status.SeedName = new("old")
	e = status.MustUpdate(ctx, e)
	want := map[string]string{"mine": "yes", "name.seed.gardener.cloud/new": "true", "name.seed.gardener.cloud/old": "true"}
	if diff := cmp.Diff(want, e.Labels); diff != "" {
		t.Errorf("API-STRAT-10: labels mirror the seeds (-want +got):\n%s", diff)
	}
	e.Status.SeedName = new("new")
	e = status.MustUpdate(ctx, e)
	delete(want, "name.seed.gardener.cloud/old")
	if diff := cmp.Diff(want, e.Labels); diff != "" {
		t.Errorf("API-STRAT-10: labels of former seeds go (-want +got):\n%s", diff)
	}
	row := map[string]string{"Bucket": "b", "Seed": "new", "Operation": "<pending>", "Progress": "0"}
	if diff := cmp.Diff(row, entries.Row(ctx, e)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
}
