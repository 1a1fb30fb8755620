// SPDX-License-Identifier: Apache-2.0

package shootrestriction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/reports"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

func hosted(s *gardencorev1beta1.Shoot) bool { return !query.SelfHosted(&s.Spec) }

// ownShoot allows a gardenlet to note what it does in the metadata of its shoot, and to write its status. What the shoot shall be, people
// decide, and so what it refers to.
func ownShoot(ctx context.Context, r *request) error {
	if !r.client.Is(r.GetNamespace(), r.GetName()) {
		return r.must("metadata.name")
	}
	shoot, old, err := world.Objects[gardencorev1beta1.Shoot](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if r.GetSubresource() != "" {
		return r.shootStatus(ctx, shoot, old)
	}
	if !equality.Semantic.DeepEqual(shoot.Spec, old.Spec) {
		return fmt.Errorf("spec: %w", reach.ErrOthers)
	}
	if err := reach.OnlyOwnMarks(shoot, old); err != nil {
		return err
	}

	return r.readable(ctx, references.Shoot(shoot), references.Shoot(old))
}

// shootStatus allows the identity of this shoot and no other in its status, and no seed.
func (r *request) shootStatus(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) error {
	if err := noSeed("status.seedName", shoot.Status.SeedName, old.Status.SeedName); err != nil {
		return err
	}
	if uid := shoot.Status.UID; uid != old.Status.UID && uid != shoot.UID {
		return fmt.Errorf("status.uid: must be %q, the UID of the shoot", shoot.UID)
	}

	return r.OwnTechnicalID(ctx, shoot, old)
}

// noSeed rejects a new seed in an object, whose gardenlet would act on it.
func noSeed(path string, now, before *string) error {
	if now == nil || ptr.Equal(now, before) {
		return nil
	}

	return fmt.Errorf("%s: %w", path, reach.ErrOthers)
}

func shootState(_ context.Context, r *request) error {
	if !r.client.Is(r.GetNamespace(), r.GetName()) {
		return r.must("metadata.name")
	}

	return nil
}

// ofShoot allows objects that belong by their name to the shoot.
func ofShoot[T any](kind graph.Kind) func(ctx context.Context, r *request) error {
	return func(_ context.Context, r *request) error {
		shoot, ok := graph.ShootOf(graph.Vertex{Kind: kind, Namespace: r.GetNamespace(), Name: r.GetName()})
		if !ok || !r.client.Is(r.GetNamespace(), shoot) {
			return r.must("metadata.name")
		}
		object, old, err := world.Objects[T](r.Attributes, r.kinds)
		if err != nil || object == nil {
			return err
		}
		if secret, ok := any(object).(*gardencorev1beta1.InternalSecret); ok {
			if err := reach.UsableCA(secret); err != nil {
				return err
			}
		}
		now, err := meta.Accessor(object)
		if err != nil {
			return fmt.Errorf("%w: %w", world.ErrUnreadable, err)
		}
		if old == nil {
			return reach.Unmarked(kind, now, nil)
		}
		before, err := meta.Accessor(old)
		if err != nil {
			return fmt.Errorf("%w: %w", world.ErrUnreadable, err)
		}

		return reach.Unmarked(kind, now, before)
	}
}

// secret rejects Secrets for tokens of service accounts.
func secret(ctx context.Context, r *request) error {
	object, _, err := world.Objects[corev1.Secret](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if object != nil && object.Type == corev1.SecretTypeServiceAccountToken {
		return fmt.Errorf("type: a gardenlet cannot create Secrets for tokens of service accounts: %w", errForeign)
	}

	return ofShoot[corev1.Secret](graph.Secret)(ctx, r)
}

func backupBucket(ctx context.Context, r *request) error {
	bucket, old, err := world.Objects[gardencorev1beta1.BackupBucket](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if old != nil && !r.named(old.Spec.ShootRef) || bucket != nil && !r.named(bucket.Spec.ShootRef) {
		return r.must("spec.shootRef")
	}

	if bucket == nil {
		return nil
	}
	if err := noSeed("spec.seedName", bucket.Spec.SeedName, nil); err != nil {
		return err
	}

	return r.readable(ctx, references.BackupBucket(bucket), edges(old, references.BackupBucket))
}

func backupEntry(ctx context.Context, r *request) error {
	entry, old, err := world.Objects[gardencorev1beta1.BackupEntry](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if old != nil && !r.named(old.Spec.ShootRef) || entry != nil && !r.named(entry.Spec.ShootRef) {
		return r.must("spec.shootRef")
	}
	if entry == nil {
		return nil
	}
	if err := errors.Join(noSeed("spec.seedName", entry.Spec.SeedName, nil), noSeed("status.seedName", entry.Status.SeedName, nil)); err != nil {
		return err
	}
	if old != nil && entry.Spec.BucketName == old.Spec.BucketName {
		return nil
	}
	bucket, err := r.BackupBucket(ctx, entry.Spec.BucketName)
	if err != nil {
		return world.Missing(err, "spec.bucketName", "backup bucket", entry.Spec.BucketName)
	}
	if !r.named(bucket.Spec.ShootRef) {
		return r.must("spec.bucketName: spec.shootRef of backup bucket " + bucket.Name)
	}

	return nil
}

// installation allows a gardenlet to report on what it installs in its shoot, and to hold it with its finalizer until it is removed.
func installation(_ context.Context, r *request) error {
	installation, old, err := world.Objects[gardencorev1beta1.ControllerInstallation](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if !r.named(old.Spec.ShootRef) || !r.named(installation.Spec.ShootRef) {
		return r.must("spec.shootRef")
	}
	if r.GetSubresource() != "" {
		return nil
	}
	now, before := held(installation), held(old)
	if !equality.Semantic.DeepEqual(now, before) {
		return fmt.Errorf("only the finalizer %q can be changed: %w", gardencorev1beta1.FinalizerControllerInstallation, reach.ErrOthers)
	}

	return nil
}

// held is what a gardenlet leaves as it is when it holds an installation.
func held(i *gardencorev1beta1.ControllerInstallation) gardencorev1beta1.ControllerInstallation {
	rest := gardencorev1beta1.ControllerInstallation{Spec: *i.Spec.DeepCopy()}
	rest.Labels, rest.Annotations, rest.OwnerReferences = i.Labels, i.Annotations, i.OwnerReferences
	for _, f := range i.Finalizers {
		if f != gardencorev1beta1.FinalizerControllerInstallation {
			rest.Finalizers = append(rest.Finalizers, f)
		}
	}

	return rest
}

func bastion(_ context.Context, r *request) error {
	b, _, err := world.Objects[gardenoperationsv1alpha1.Bastion](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if !r.client.Is(r.GetNamespace(), b.Spec.ShootRef.Name) {
		return r.must("spec.shootRef")
	}

	return nil
}

// event allows events about objects of the shoot, in its namespace.
func event(ctx context.Context, r *request) error {
	if r.GetNamespace() != r.client.Namespace {
		return fmt.Errorf("metadata.namespace: must be %q, the namespace of shoot %q: %w", r.client.Namespace, r.client, errForeign)
	}
	report := reports.Report{Attributes: r.Attributes, View: r.View, Kinds: r.kinds, Client: r.client.Who()}

	return report.Judge(ctx)
}

func lease(_ context.Context, r *request) error {
	if r.GetNamespace() != r.client.Namespace || r.GetName() != r.client.Lease() {
		return fmt.Errorf("metadata.name: the lease of shoot %q is %s/%s", r.client, r.client.Namespace, r.client.Lease())
	}

	return nil
}

func signingRequest(_ context.Context, r *request) error {
	asked, _, err := world.Objects[certificatesv1.CertificateSigningRequest](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	shoot, err := references.ShootOfRequest(&asked.Spec)
	if err != nil {
		return err
	}
	if !r.client.Is(shoot.Namespace, shoot.Name) {
		return r.must("spec.request: common name")
	}

	return nil
}

// named reports whether a reference is one to the client's shoot.
func (r *request) named(ref *corev1.ObjectReference) bool {
	return ref != nil && r.client.Is(ref.Namespace, ref.Name)
}

// must returns the error for an object that refers to another shoot.
func (r *request) must(path string) error {
	return fmt.Errorf("%s: must refer to shoot %q: %w", path, r.client, errForeign)
}

// edges returns the references of an object, none if it is nil.
func edges[T any](object *T, of func(*T) []graph.Edge) []graph.Edge {
	if object == nil {
		return nil
	}

	return of(object)
}

// readable rejects references to objects that the client may not read already.
func (r *request) readable(ctx context.Context, now, before []graph.Edge) error {
	for _, edge := range now {
		if slices.Contains(before, edge) {
			continue
		}
		may, err := reach.Readable(ctx, r.World, r.GetUserInfo(), edge.From)
		if err != nil {
			return err
		}
		if !may {
			return fmt.Errorf("it may not refer to %s, which does not belong to shoot %q", edge.From, r.client)
		}
	}

	return nil
}
