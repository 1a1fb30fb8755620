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

// The authorizer lets clients of a seed reach all objects that something on the seed refers to. Most of these are only to be
// read: credentials of projects, and what operators keep for seeds. The rules here tell them from what a seed has made.

// errRead is the refusal of changes to what a seed may only read.
var errRead = errors.New("a seed reads this object and may not change it, except for its own finalizers")

// ownFinalizer reports whether gardenlets put a finalizer on credentials that they use, or take it away (GLET-BB-2). In the
// namespace garden they take away the one of older releases, which elsewhere protects the credentials of projects.
func ownFinalizer(namespace, name string) bool {
	return name == "core.gardener.cloud/backupbucket" ||
		name == "gardener.cloud/gardener" && namespace == gardencorev1beta1.NamespaceGarden
}

// updateSecret lets a seed change what it has made, and keeps a join token what it was made for.
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

// deleteSecret lets a seed delete what it has made. Of join tokens the authorizer knows which it may throw away.
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

// ownSecret refuses Secrets that no gardenlet of the seed has made.
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

// ofOwnShoot refuses what belongs by its name to a shoot that neither runs on the seed nor is leaving it.
func (r *request) ofOwnShoot(ctx context.Context, at graph.Vertex) error {
	name, ok := graph.ShootOf(at)
	if !ok {
		return errForeign
	}

	return r.runsOrLeaves(ctx, at.Namespace, name)
}

// runsOrLeaves refuses a shoot that neither runs on the seed nor is leaving it.
func (r *request) runsOrLeaves(ctx context.Context, namespace, name string) error {
	shoot, err := r.Shoot(ctx, namespace, name)
	if err == nil && (r.has(shoot.Spec.SeedName) || r.has(shoot.Status.SeedName)) {
		return nil
	}

	return r.elsewhere(err, "metadata.name", "shoot", name)
}

// ofManagedSeed refuses what no managed seed of this seed owns; older gardenlets make a backup Secret for it.
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

// projectChange is for the update and the deletion of ConfigMaps and InternalSecrets: only what belongs to an own shoot by
// its name changes. What a shoot merely refers to does not.
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

// updateIdentity keeps an identity what it is: whoever changes its audiences gets tokens that are good elsewhere.
func updateIdentity(_ context.Context, r *request) error {
	identity, old, err := world.Objects[gardensecurityv1alpha1.WorkloadIdentity](r.Attributes, r.kinds)
	if err != nil {
		return err
	}

	return r.onlyFinalizers(identity, old, errForeign)
}

// updateServiceAccount keeps a service account from naming Secrets of others: what the account of a managed seed names belongs
// to its seed (GAC-GR-9).
func updateServiceAccount(ctx context.Context, r *request) error {
	account, old, err := world.Objects[corev1.ServiceAccount](r.Attributes, r.kinds)
	if err != nil {
		return err
	}

	return r.readable(ctx, references.ServiceAccount(account), references.ServiceAccount(old))
}

// editable is an object of the API.
type editable interface {
	metav1.Object
	runtime.Object
}

// onlyFinalizers passes a change of nothing but the finalizers of gardenlets.
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
