// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// uses reports whether an object refers to an identity, on behalf of which a seed asks for a token. Who can write a Secret in a seed can have
// its gardenlet ask for any identity of the seed with any object of the seed; a token that says that the identity is used for the object has
// to be true (API-TOKEN-1).
func (r reader) uses(ctx context.Context, obj metav1.Object, of types.NamespacedName, seed string) (bool, error) {
	found, err := r.identitiesOf(ctx, obj, seed)
	return slices.Contains(found, of), err
}

// identitiesOf are the identities that an object refers to.
func (r reader) identitiesOf(ctx context.Context, obj metav1.Object, seed string) ([]types.NamespacedName, error) {
	switch o := obj.(type) {
	case *gardencorev1beta1.Shoot:
		return r.ofShoot(ctx, o, seed)
	case *gardencorev1beta1.Seed:
		found := identities("", append(dnsOf(o), backupOf(o))...)
		return append(found, named(gardencorev1beta1.NamespaceGarden, o.Spec.Resources)...), nil
	case *gardencorev1beta1.BackupBucket:
		return identities("", o.Spec.CredentialsRef), nil
	case *gardencorev1beta1.BackupEntry:
		bucket, err := get[*gardencorev1beta1.BackupBucket](ctx, r, "backupbuckets", "", o.Spec.BucketName)
		if err != nil {
			return nil, err
		}
		return identities("", bucket.Spec.CredentialsRef), nil
	default:
		return nil, nil
	}
}

// ofShoot are those that the owner of a shoot refers to, and those for records below domains of its seed.
func (r reader) ofShoot(ctx context.Context, shoot *gardencorev1beta1.Shoot, seed string) ([]types.NamespacedName, error) {
	found := named(shoot.Namespace, shoot.Spec.Resources)
	if dns := shoot.Spec.DNS; dns != nil {
		for i := range dns.Providers {
			if ref := dns.Providers[i].CredentialsRef; ref != nil {
				found = append(found, identities(shoot.Namespace, &corev1.ObjectReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name})...)
			}
		}
	}
	bound, err := r.bound(ctx, shoot)
	if err != nil {
		return nil, err
	}
	found = append(found, bound...)
	asking, err := get[*gardencorev1beta1.Seed](ctx, r, "seeds", "", seed)
	if err != nil {
		return nil, err
	}
	return append(found, identities("", dnsOf(asking)...)...), nil
}

// bound are those of all bindings in the namespace of a shoot, if it has a binding. After a change to another one, the shoot uses the former
// one until it is reconciled, which may be as late as in its next maintenance.
func (r reader) bound(ctx context.Context, shoot *gardencorev1beta1.Shoot) ([]types.NamespacedName, error) {
	if shoot.Spec.CredentialsBindingName == nil {
		return nil, nil
	}
	lister, ok := r.stores["credentialsbindings"].(rest.Lister)
	if !ok {
		return nil, errors.New("list credentialsbindings: the resource is not served")
	}
	listed, err := lister.List(genericapirequest.WithNamespace(ctx, shoot.Namespace), &metainternalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found []types.NamespacedName
	err = meta.EachListItem(listed, func(o runtime.Object) error {
		if binding, ok := o.(*gardensecurityv1alpha1.CredentialsBinding); ok {
			found = append(found, identities("", &binding.CredentialsRef)...)
		}

		return nil
	})

	return found, err
}

// backupOf are the credentials for backups of a seed; nil if there are none.
func backupOf(seed *gardencorev1beta1.Seed) *corev1.ObjectReference {
	if seed.Spec.Backup == nil {
		return nil
	}
	return seed.Spec.Backup.CredentialsRef
}

// dnsOf are the credentials for domains of a seed.
func dnsOf(seed *gardencorev1beta1.Seed) []*corev1.ObjectReference {
	var found []*corev1.ObjectReference
	if provider := seed.Spec.DNS.Provider; provider != nil {
		found = append(found, provider.CredentialsRef)
	}
	if internal := seed.Spec.DNS.Internal; internal != nil {
		found = append(found, &internal.CredentialsRef)
	}
	for i := range seed.Spec.DNS.Defaults {
		found = append(found, &seed.Spec.DNS.Defaults[i].CredentialsRef)
	}
	return found
}

// named are the identities among resources, which are in a namespace.
func named(namespace string, resources []gardencorev1beta1.NamedResourceReference) []types.NamespacedName {
	var found []types.NamespacedName
	for _, resource := range resources {
		ref := resource.ResourceRef
		found = append(found, identities(namespace, &corev1.ObjectReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name})...)
	}
	return found
}

// identities are those among references, which may be nil. A namespace that is given counts in place of theirs.
func identities(namespace string, refs ...*corev1.ObjectReference) []types.NamespacedName {
	var found []types.NamespacedName
	for _, ref := range refs {
		if ref == nil || schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() != gardensecurityv1alpha1.Kind("WorkloadIdentity") {
			continue
		}
		key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
		if namespace != "" {
			key.Namespace = namespace
		}
		found = append(found, key)
	}
	return found
}
