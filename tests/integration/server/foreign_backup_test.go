// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// listBackups asks for all of them: older gardenlets know no selector for these kinds.
func (f *foreign) listBackups() {
	f.watched(&gardencorev1beta1.BackupBucketList{})
	f.watched(&gardencorev1beta1.BackupEntryList{})
}

// backups makes the bucket of a seed whose configuration has got one, and an entry in it.
func (f *foreign) backups() {
	ctx := f.t.Context()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	credentials := &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"}
	f.patchObject(seed, func() { seed.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: credentials} })
	bucket := f.bucket(seed)
	bucket.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(seed, gardencorev1beta1.GroupVersion.WithKind("Seed"))}
	bucket.Spec = gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "local"}, SeedName: &f.name, CredentialsRef: credentials,
	}
	f.do("create bucket", f.client.Create(ctx, bucket))
	f.patchStatus(bucket, func() {
		bucket.Status.ObservedGeneration = bucket.Generation
		bucket.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	})
	entry := &gardencorev1beta1.BackupEntry{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "shoot--meadow--sprout--" + string(f.shoot.UID)},
		Spec:       gardencorev1beta1.BackupEntrySpec{BucketName: bucket.Name, SeedName: &f.name},
	}
	f.do("create entry", f.client.Create(ctx, entry))
	f.do("delete entry", f.client.Delete(ctx, entry))
}

func (f *foreign) bucket(seed *gardencorev1beta1.Seed) *gardencorev1beta1.BackupBucket {
	f.t.Helper()
	f.do("read the seed", f.client.Get(f.t.Context(), client.ObjectKey{Name: f.name}, seed))

	return &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: string(seed.UID)}}
}

// backupsReady waits for what a garden says of the buckets of a seed: gardenlets do not write it themselves.
func (f *foreign) backupsReady() {
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	harness.Await(f.t, f.client, seed, "the garden finds that the bucket is ready", func(s *gardencorev1beta1.Seed) error {
		for _, c := range s.Status.Conditions {
			if c.Type == "BackupBucketsReady" && c.Status == "True" {
				return nil
			}
		}

		return errNotYet
	})
}

func (f *foreign) leaveBackups() {
	bucket := f.bucket(&gardencorev1beta1.Seed{})
	f.do("delete bucket", f.client.Delete(f.t.Context(), bucket))
	awaitGone(f.t, f.garden, bucket, "the bucket is gone")
}
