// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

const (
	bucketSecretPrefix = gardencorev1beta1.SecretPrefixGeneratedBucket
	electionLease      = "gardenlet-leader-election"
)

// createRequest allows a gardenlet to request certificates for its own seed only; extensions cannot request certificates
// (GAC-SR-6).
func createRequest(_ context.Context, r *request) error {
	if r.client.Extension {
		return fmt.Errorf("extensions cannot request certificates: %w", errForeign)
	}
	asked, err := object[certificatesv1.CertificateSigningRequest](r)
	if err != nil {
		return err
	}
	seed, err := references.SeedOfRequest(&asked.Spec)
	if err != nil {
		return err
	}
	if seed == "" {
		return fmt.Errorf("spec.request: is not for the certificate of a gardenlet: %w", errForeign)
	}

	return r.mine("spec.request: common name", &seed)
}

// createBinding allows a gardenlet to create the ClusterRoleBinding that bootstraps a managed seed which has not joined yet, and
// no other one (GAC-SR-7).
func createBinding(ctx context.Context, r *request) error {
	binding, err := object[rbacv1.ClusterRoleBinding](r)
	if err != nil {
		return err
	}
	namespace, name, ok := bootstrapped(binding.Name)
	if !ok || r.client.Extension {
		return fmt.Errorf("metadata.name: must begin with %s:: %w", gardencorev1beta1.ClusterRoleSeedBootstrapper, errForeign)
	}
	if binding.RoleRef.Kind != "ClusterRole" || binding.RoleRef.Name != gardencorev1beta1.ClusterRoleSeedBootstrapper {
		return fmt.Errorf("roleRef: must be ClusterRole %q", gardencorev1beta1.ClusterRoleSeedBootstrapper)
	}
	if err := onlyAccount(binding, namespace, name); err != nil {
		return err
	}

	return r.joins(ctx, namespace, name)
}

// updateBinding checks that the binding of a managed seed keeps its subject.
func updateBinding(_ context.Context, r *request) error {
	binding, err := object[rbacv1.ClusterRoleBinding](r)
	if err != nil {
		return err
	}
	namespace, name, ok := bootstrapped(binding.Name)
	if !ok {
		return errForeign
	}

	return onlyAccount(binding, namespace, name)
}

// bootstrapped parses the managed seed from the name of a binding, which contains the name of the seed or of its service account.
func bootstrapped(binding string) (namespace, name string, ok bool) {
	about, ok := strings.CutPrefix(binding, gardencorev1beta1.ClusterRoleSeedBootstrapper+":")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(about, ":")

	return namespace, strings.TrimPrefix(name, references.ServiceAccountPrefixBootstrap), ok
}

// onlyAccount checks that the service account of the managed seed is the only subject.
func onlyAccount(binding *rbacv1.ClusterRoleBinding, namespace, name string) error {
	want := rbacv1.Subject{
		Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: references.ServiceAccountPrefixBootstrap + name,
	}
	if slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool { return s != want }) {
		return fmt.Errorf("subjects: must be only service account %q", namespace+"/"+want.Name)
	}

	return nil
}

// createLease allows a gardenlet to create the lease of its seed and that of the leader election, and extensions to create leases
// in their seed's namespace (GAC-SR-8).
func createLease(_ context.Context, r *request) error {
	if _, err := object[coordinationv1.Lease](r); err != nil {
		return err
	}
	switch namespace, name := r.GetNamespace(), r.GetName(); {
	case r.client.Extension && namespace == r.client.Namespace(),
		!r.client.Extension && namespace == gardencorev1beta1.NamespaceGarden && name == electionLease,
		!r.client.Extension && namespace == gardencorev1beta1.NamespaceSeedLease && name == r.client.Seed:
		return nil
	default:
		return fmt.Errorf("metadata.name: a gardenlet has the leases %s/%s and %s/%s, an extension those in %q",
			gardencorev1beta1.NamespaceGarden, electionLease, gardencorev1beta1.NamespaceSeedLease, r.client.Seed, r.client.Namespace())
	}
}

// createServiceAccount allows a gardenlet to create the service account that bootstraps a managed seed, and those of extensions in its
// seed's namespace (GAC-SR-12).
func createServiceAccount(ctx context.Context, r *request) error {
	if r.client.Extension {
		return errForeign
	}
	account, err := object[corev1.ServiceAccount](r)
	if err != nil {
		return err
	}
	if err := noNewNames(references.ServiceAccount(account), nil); err != nil {
		return err
	}
	if r.GetNamespace() == r.client.Namespace() {
		return r.extensionAccount(ctx, account, nil)
	}
	name, ok := strings.CutPrefix(r.GetName(), references.ServiceAccountPrefixBootstrap)
	if !ok {
		return fmt.Errorf("metadata.name: must begin with %q outside of namespace %q: %w",
			references.ServiceAccountPrefixBootstrap, r.client.Namespace(), errForeign)
	}

	return r.joins(ctx, r.GetNamespace(), name)
}

// createSecret allows a seed to create Secrets of its buckets, its shoots and their issuers, bootstrap tokens, and Secrets that
// its managed seeds refer to. The first matching case decides (GAC-SR-9).
func createSecret(ctx context.Context, r *request) error {
	secret, err := object[corev1.Secret](r)
	if err != nil {
		return err
	}
	at := graph.Vertex{Kind: graph.Secret, Namespace: r.GetNamespace(), Name: r.GetName()}
	if secret.Type == corev1.SecretTypeServiceAccountToken {
		return fmt.Errorf("type: a seed cannot create Secrets for tokens of service accounts: %w", errForeign)
	}
	if err := reach.Unmarked(graph.Secret, secret, nil); err != nil {
		return err
	}
	if bucket, ok := graph.BucketOf(at); ok {
		return r.ownBucket(ctx, bucket)
	}
	if shoot, ok := graph.ShootOf(at); ok {
		return r.ownShoot(ctx, at.Namespace, shoot)
	}
	switch {
	case at.Namespace == gardencorev1beta1.NamespaceShootIssuer:
		return r.issuerSecret(ctx, secret)
	case at.Namespace == metav1.NamespaceSystem && strings.HasPrefix(at.Name, bootstrapapi.BootstrapTokenSecretPrefix):
		return r.bootstrapToken(ctx, secret)
	default:
		return r.managedSeedSecret(ctx, at)
	}
}

// managedSeedSecret allows the Secrets that a managed seed of this seed refers to (GAC-SR-9).
func (r *request) managedSeedSecret(ctx context.Context, at graph.Vertex) error {
	all, err := world.List[gardenseedmanagementv1alpha1.ManagedSeedList](ctx, r.View, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "managedseeds", Namespace: gardencorev1beta1.NamespaceGarden,
	}, fields.Everything())
	if err != nil {
		return fmt.Errorf("list managed seeds: %w", err)
	}
	for i := range all.Items {
		refers := slices.ContainsFunc(references.ManagedSeed(&all.Items[i], false), func(e graph.Edge) bool { return e.From == at })
		if refers && r.ownManagedSeed(ctx, "metadata.name", &all.Items[i]) == nil {
			return nil
		}
	}

	return errForeign
}
