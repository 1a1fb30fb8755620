// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// The authorizer gives clients of a seed access to all objects that are referred to by an object of the seed. Most of these
// may only be read, such as credentials of projects and Secrets that operators keep for seeds. The checks here allow changes
// only to objects that a seed has created.

// errRead rejects changes of objects that a seed may only read.
var errRead = errors.New("a seed may only read this object and change its own finalizers")

// ownFinalizer reports whether gardenlets may add a finalizer to credentials that they use, and remove it. In the namespace
// garden they may remove the finalizer of older releases, which in other namespaces protects the credentials of projects
// (GLET-BB-2).
func ownFinalizer(namespace, name string) bool {
	return name == "core.gardener.cloud/backupbucket" ||
		name == "gardener.cloud/gardener" && namespace == gardencorev1beta1.NamespaceGarden
}

// updateSecret allows a seed to change Secrets that it has created. A join token must keep its purpose.
func updateSecret(ctx context.Context, r *request) error {
	secret, old, err := world.Objects[corev1.Secret](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if joinToken(r) {
		return r.bootstrapToken(ctx, secret)
	}
	if err := r.ownSecret(ctx, old); err != nil {
		return r.onlyFinalizers(secret, old, err)
	}
	if r.GetNamespace() == gardencorev1beta1.NamespaceShootIssuer {
		if err := r.issuerSecret(ctx, secret); err != nil {
			return err
		}
	}

	return reach.Unmarked(graph.Secret, secret, old)
}

// deleteSecret allows a seed to delete Secrets that it has created. The authorizer decides which join tokens it may delete.
func deleteSecret(ctx context.Context, r *request) error {
	secret, err := object[corev1.Secret](r)
	if err != nil || joinToken(r) {
		return err
	}

	return r.ownSecret(ctx, secret)
}

func joinToken(r *request) bool {
	return r.GetNamespace() == metav1.NamespaceSystem && strings.HasPrefix(r.GetName(), bootstrapapi.BootstrapTokenSecretPrefix)
}

// ownSecret rejects Secrets that the gardenlet of the seed has not created.
func (r *request) ownSecret(ctx context.Context, secret *corev1.Secret) error {
	at := graph.Vertex{Kind: graph.Secret, Namespace: r.GetNamespace(), Name: r.GetName()}
	if bucket, ok := graph.BucketOf(at); ok {
		return r.ownBucket(ctx, bucket)
	}
	if ofShoot(at) {
		return r.ofOwnShoot(ctx, at)
	}
	if at.Namespace == gardencorev1beta1.NamespaceShootIssuer {
		return r.issuerSecret(ctx, secret)
	}

	return r.ofManagedSeed(ctx, secret)
}

// ofOwnShoot rejects objects that belong by their name to a shoot that neither runs on the seed nor is moving away from it.
func (r *request) ofOwnShoot(ctx context.Context, at graph.Vertex) error {
	name, ok := graph.ShootOf(at)
	if !ok {
		return errForeign
	}

	return r.runsOrLeaves(ctx, at.Namespace, name)
}

// runsOrLeaves rejects a shoot that neither runs on the seed nor is moving away from it.
func (r *request) runsOrLeaves(ctx context.Context, namespace, name string) error {
	_, err := r.shootOrLeaving(ctx, "metadata.name", namespace, name)

	return err
}

// shootOrLeaving returns a shoot that runs on the seed or is moving away from it.
func (r *request) shootOrLeaving(ctx context.Context, path, namespace, name string) (*gardencorev1beta1.Shoot, error) {
	shoot, err := r.Shoot(ctx, namespace, name)
	if err == nil && (r.has(shoot.Spec.SeedName) || r.has(shoot.Status.SeedName)) {
		return shoot, nil
	}

	return nil, r.elsewhere(err, path, "shoot", name)
}

// ofManagedSeed rejects objects that are not owned by a managed seed of this seed, for which older gardenlets create a backup
// Secret.
func (r *request) ofManagedSeed(ctx context.Context, secret *corev1.Secret) error {
	for _, owner := range secret.OwnerReferences {
		if owner.Kind != jointoken.KindManagedSeed || secret.Namespace != gardencorev1beta1.NamespaceGarden {
			continue
		}
		managed, err := r.managedSeed(ctx, secret.Namespace, owner.Name)
		if err == nil && managed.UID == owner.UID {
			return r.ownManagedSeed(ctx, "metadata.ownerReferences", managed)
		}

		return r.elsewhere(err, "metadata.ownerReferences", "managed seed", owner.Name)
	}

	return errForeign
}

// projectChange checks updates and deletions of ConfigMaps and InternalSecrets: only those that belong by their name to a
// shoot of the seed may be changed, not those that a shoot refers to.
func projectChange[T any](kind graph.Kind) judge {
	return func(ctx context.Context, r *request) error {
		object, old, err := world.Objects[T](r.Attributes, r.kinds)
		if err != nil {
			return err
		}
		foreign := r.ofOwnShoot(ctx, graph.Vertex{Kind: kind, Namespace: r.GetNamespace(), Name: r.GetName()})
		if foreign != nil || object == nil {
			return foreign
		}

		return r.unmarkedChange(kind, object, old)
	}
}

func (r *request) unmarkedChange(kind graph.Kind, object, old any) error {
	now, err := meta.Accessor(object)
	if err != nil {
		return fmt.Errorf("%w: %w", world.ErrUnreadable, err)
	}
	before, err := meta.Accessor(old)
	if err != nil {
		return fmt.Errorf("%w: %w", world.ErrUnreadable, err)
	}

	return reach.Unmarked(kind, now, before)
}

// updateIdentity rejects changes of an identity: a client that changes its audiences would get tokens for other systems.
func updateIdentity(_ context.Context, r *request) error {
	identity, old, err := world.Objects[gardensecurityv1alpha1.WorkloadIdentity](r.Attributes, r.kinds)
	if err != nil {
		return err
	}

	return r.onlyFinalizers(identity, old, errForeign)
}

// updateServiceAccount rejects new references of a service account to Secrets, because the Secrets of
// a managed seed's service account belong to its seed (GAC-GR-9), and labels that are not those of its extension.
func updateServiceAccount(ctx context.Context, r *request) error {
	account, old, err := world.Objects[corev1.ServiceAccount](r.Attributes, r.kinds)
	if err != nil {
		return err
	}

	if r.GetNamespace() == r.client.Namespace() {
		if err := r.extensionAccount(ctx, account, old); err != nil {
			return err
		}
	}

	return noNewNames(references.ServiceAccount(account), references.ServiceAccount(old))
}

// editable is an object of the API.
type editable interface {
	metav1.Object
	runtime.Object
}

// onlyFinalizers accepts a change of the finalizers of gardenlets only.
func (*request) onlyFinalizers(object, old editable, why error) error {
	now, nowOK := object.DeepCopyObject().(editable)
	before, beforeOK := old.DeepCopyObject().(editable)
	if !nowOK || !beforeOK {
		return fmt.Errorf("%w: copy %T", world.ErrUnreadable, object)
	}
	for _, o := range []editable{now, before} {
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return ownFinalizer(o.GetNamespace(), f) }))
		if len(o.GetFinalizers()) == 0 {
			o.SetFinalizers(nil)
		}
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
		o.SetGeneration(0)
	}
	if equality.Semantic.DeepEqual(now, before) {
		return nil
	}

	return fmt.Errorf("%w: %w", errRead, why)
}
