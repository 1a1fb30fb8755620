// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

const sourcePrefix = "source-"

// createBackupBucket allows a gardenlet to create the bucket of its seed, whose name is the UID of the seed (GAC-SR-2). Under other names it could
// create any number of them.
func createBackupBucket(ctx context.Context, r *request) error {
	bucket, err := object[gardencorev1beta1.BackupBucket](r)
	if err != nil {
		return err
	}
	if err := r.mine("spec.seedName", bucket.Spec.SeedName); err != nil {
		return err
	}
	if err := r.mayNameInBucket(ctx, holders(references.BackupBucket(bucket))); err != nil {
		return err
	}

	return r.ownBucketName(ctx, bucket.Name)
}

func updateBackupBucket(ctx context.Context, r *request) error {
	bucket, old, err := world.Objects[gardencorev1beta1.BackupBucket](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if err := r.mine("spec.seedName", bucket.Spec.SeedName); err != nil {
		return err
	}

	generated := graph.Vertex{Kind: graph.Secret, Namespace: gardencorev1beta1.NamespaceGarden, Name: bucketSecretPrefix + bucket.Name}
	named := without(added(references.BackupBucket(bucket), references.BackupBucket(old)), []graph.Vertex{generated})

	return r.mayNameInBucket(ctx, named)
}

// mayNameInBucket rejects references of a bucket, except to what the client's own Seed names and to what its Seed could name. A
// bucket outlives shoots and their moves, so credentials that the client reads for a shoot would be readable for ever.
func (r *request) mayNameInBucket(ctx context.Context, named []graph.Vertex) error {
	if len(named) == 0 {
		return nil
	}
	seed, err := r.Seed(ctx, r.client.Seed)
	if err != nil {
		return fmt.Errorf("read seed %q: %w", r.client.Seed, err)
	}

	return r.mayName(ctx, without(named, holders(references.Seed(seed))))
}

// deleteBackupBucket allows a gardenlet to delete the bucket of its seed (GAC-SR-2).
func deleteBackupBucket(ctx context.Context, r *request) error {
	return r.ownBucketName(ctx, r.GetName())
}

// ownBucketName rejects the name of another bucket than that of the seed.
func (r *request) ownBucketName(ctx context.Context, name string) error {
	seed, err := r.Seed(ctx, r.client.Seed)
	if err != nil {
		return fmt.Errorf("read seed %q: %w", r.client.Seed, err)
	}
	if name != string(seed.UID) {
		return fmt.Errorf("metadata.name: the bucket of seed %q is %q", seed.Name, seed.UID)
	}

	return nil
}

// createBackupEntry allows a gardenlet to create the entry of each shoot of its seed in a bucket of its seed, and source entries of
// shoots that are being restored (GAC-SR-3, GAC-SR-4). Other entries would only keep a project from being deleted.
func createBackupEntry(ctx context.Context, r *request) error {
	entry, err := object[gardencorev1beta1.BackupEntry](r)
	if err != nil {
		return err
	}
	if err := r.mine("spec.seedName", entry.Spec.SeedName); err != nil {
		return err
	}
	if err := reach.OnlyOwnFinalizer(entry, &gardencorev1beta1.BackupEntry{}); err != nil {
		return err
	}
	shoot, err := r.owner(ctx, entry)
	if err != nil {
		return err
	}
	if !namesEntry(shoot, strings.TrimPrefix(entry.Name, sourcePrefix)) {
		return fmt.Errorf("metadata.name: must be the technical ID and the UID of shoot %q, with -- between them", shoot.Name)
	}
	if strings.HasPrefix(entry.Name, sourcePrefix) {
		return r.sourceEntry(ctx, shoot, entry)
	}

	return r.ownBucket(ctx, entry.Spec.BucketName)
}

func updateBackupEntry(ctx context.Context, r *request) error {
	entry, old, err := world.Objects[gardencorev1beta1.BackupEntry](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if err := reach.OnlyOwnFinalizer(entry, old); err != nil {
		return err
	}
	if err := r.movesEntry(ctx, entry, old); err != nil {
		return err
	}
	if entry.Spec.BucketName == old.Spec.BucketName {
		return nil
	}

	return r.ownBucket(ctx, entry.Spec.BucketName)
}

func (r *request) ownBucket(ctx context.Context, name string) error {
	bucket, err := r.BackupBucket(ctx, name)
	if err == nil && r.has(bucket.Spec.SeedName) {
		return nil
	}

	return r.elsewhere(err, "spec.bucketName", "backup bucket", name)
}

// sourceEntry allows an entry for the old backup of a shoot that moves to this seed, which is used until the backup is copied.
func (r *request) sourceEntry(ctx context.Context, shoot *gardencorev1beta1.Shoot, entry *gardencorev1beta1.BackupEntry) error {
	if !r.has(shoot.Spec.SeedName) {
		return r.elsewhere(nil, "metadata.ownerReferences", "shoot", shoot.Name)
	}
	last := shoot.Status.LastOperation
	if last == nil || last.Type != gardencorev1beta1.LastOperationTypeRestore || last.State != gardencorev1beta1.LastOperationStateProcessing {
		return fmt.Errorf("the source of a backup can be created only while shoot %q is being restored", shoot.Name)
	}
	name := strings.TrimPrefix(entry.Name, sourcePrefix)
	original, err := world.Get[gardencorev1beta1.BackupEntry](ctx, r.View, world.Place{
		Group: gardencorev1beta1.GroupName, Resource: "backupentries", Namespace: entry.Namespace, Name: name,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("metadata.name: read backup entry %q: %w", name, err)
	}
	// A missing entry gives the same error as a different one, because the entry may belong to another seed.
	if err != nil || !equality.Semantic.DeepEqual(original.Spec, entry.Spec) {
		return fmt.Errorf("spec: must be the same as that of backup entry %q, which must exist", name)
	}

	return nil
}

// namesEntry reports whether a name is that of the backup of a shoot. The UID in the status is another one if the shoot came from
// another garden.
func namesEntry(shoot *gardencorev1beta1.Shoot, name string) bool {
	uid, ok := strings.CutPrefix(name, shoot.Status.TechnicalID+"--")

	return ok && shoot.Status.TechnicalID != "" && uid != "" && (uid == string(shoot.UID) || uid == string(shoot.Status.UID))
}

// owner returns the shoot of an entry, which runs on the seed or leaves it.
func (r *request) owner(ctx context.Context, entry *gardencorev1beta1.BackupEntry) (*gardencorev1beta1.Shoot, error) {
	for _, owner := range entry.OwnerReferences {
		if owner.Kind == "Shoot" {
			return r.shootOrLeaving(ctx, "metadata.ownerReferences", entry.Namespace, owner.Name)
		}
	}

	return nil, errors.New("metadata.ownerReferences: must name a shoot")
}
