// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Seed returns the edges of a Seed. The graph itself derives those of its namespace and its lease. An InternalSecret never
// belongs to a Seed that refers to it, because the garden keeps the client CAs of clusters in InternalSecrets (GAC-GR-3).
func Seed(s *gardencorev1beta1.Seed) []graph.Edge {
	e := edgesOf(graph.Seed, "", s.Name)
	e.has(graph.ConfigMap, gardencorev1beta1.NamespaceKubeSystem, gardencorev1beta1.ConfigMapClusterIdentity)
	wholeSeedSpec(e, &s.Spec)

	return withoutInternal(e.all)
}

// NamedBySeed lists the objects that the spec of a seed refers to, including those that do not belong to the seed by that.
func NamedBySeed(s *gardencorev1beta1.SeedSpec) []graph.Vertex {
	e := edgesOf(graph.Seed, "", "")
	wholeSeedSpec(e, s)
	all := make([]graph.Vertex, 0, len(e.all))
	for _, edge := range e.all {
		all = append(all, edge.From)
	}

	return all
}

func wholeSeedSpec(e *edges, s *gardencorev1beta1.SeedSpec) {
	seedSpec(e, s)
	if provider := s.DNS.Provider; provider != nil {
		e.hasSecret(provider.SecretRef)
		e.hasObject(provider.CredentialsRef)
	}
	if internal := s.DNS.Internal; internal != nil {
		e.hasObject(&internal.CredentialsRef)
	}
	for i := range s.DNS.Defaults {
		e.hasObject(&s.DNS.Defaults[i].CredentialsRef)
	}
	for _, resource := range s.Resources {
		e.hasNamed(resource.ResourceRef.Kind, gardencorev1beta1.NamespaceGarden, resource.ResourceRef.Name)
	}
}

// WithoutCAs removes the edges from client CAs of shoots, which belong to their shoot by their name. Any other object that names
// one would give the key of a cluster to the seed of another shoot, or to one that the shoot has left. Other InternalSecrets can
// be credentials.
func WithoutCAs(all []graph.Edge) []graph.Edge {
	return slices.DeleteFunc(all, func(e graph.Edge) bool {
		_, ofShoot := graph.ShootOf(e.From)

		return ofShoot && e.From.Kind == graph.InternalSecret
	})
}

func withoutInternal(all []graph.Edge) []graph.Edge {
	return slices.DeleteFunc(all, func(e graph.Edge) bool { return e.From.Kind == graph.InternalSecret })
}

// seedSpec adds the edges that a seed and its template have in common: from the credentials of its backups and from its
// kubeconfig.
func seedSpec(e *edges, s *gardencorev1beta1.SeedSpec) {
	if s.Backup != nil {
		e.hasSecret(s.Backup.SecretRef)
		e.hasObject(s.Backup.CredentialsRef)
	}
	e.hasSecret(s.SecretRef)
}

// BackupBucket returns the edges of a BackupBucket: to its seed, and from its credentials (GAC-GR-4).
func BackupBucket(b *gardencorev1beta1.BackupBucket) []graph.Edge {
	e := edgesOf(graph.BackupBucket, "", b.Name)
	e.belongsToSeed(b.Spec.SeedName)
	e.hasSecret(b.Spec.SecretRef)
	e.hasObject(b.Spec.CredentialsRef)
	e.hasSecret(b.Status.GeneratedSecretRef)

	return e.all
}

// BackupEntry returns the edges of a BackupEntry: to its seeds and its shoot, and from its bucket (GAC-GR-4).
func BackupEntry(b *gardencorev1beta1.BackupEntry) []graph.Edge {
	e := edgesOf(graph.BackupEntry, b.Namespace, b.Name)
	e.belongsToSeed(b.Spec.SeedName)
	e.belongsToSeed(b.Status.SeedName)
	for _, owner := range b.OwnerReferences {
		if owner.Kind == kindShoot {
			e.belongs(graph.Shoot, b.Namespace, owner.Name)
		}
	}
	e.has(graph.BackupBucket, "", b.Spec.BucketName)

	return e.all
}

// SecretBinding returns the edge from the credentials of a SecretBinding (GAC-GR-5).
func SecretBinding(b *gardencorev1beta1.SecretBinding) []graph.Edge {
	e := edgesOf(graph.SecretBinding, b.Namespace, b.Name)
	e.has(graph.Secret, b.SecretRef.Namespace, b.SecretRef.Name)

	return e.all
}

// ControllerInstallation returns the edges of a ControllerInstallation: to its seed, and from its registration and deployment
// (GAC-GR-6).
func ControllerInstallation(i *gardencorev1beta1.ControllerInstallation) []graph.Edge {
	e := edgesOf(graph.ControllerInstallation, "", i.Name)
	if i.Spec.SeedRef != nil {
		e.belongs(graph.Seed, "", i.Spec.SeedRef.Name)
	}
	e.has(graph.ControllerRegistration, "", i.Spec.RegistrationRef.Name)
	if i.Spec.DeploymentRef != nil {
		e.has(graph.ControllerDeployment, "", i.Spec.DeploymentRef.Name)
	}

	return e.all
}

// ControllerDeployment returns the edges from the Secrets and other objects that a ControllerDeployment refers to (GAC-GR-6).
func ControllerDeployment(d *gardencorev1.ControllerDeployment) []graph.Edge {
	e := edgesOf(graph.ControllerDeployment, "", d.Name)
	if d.Helm != nil && d.Helm.OCIRepository != nil {
		repository := d.Helm.OCIRepository
		if repository.PullSecretRef != nil {
			e.has(graph.Secret, gardencorev1beta1.NamespaceGarden, repository.PullSecretRef.Name)
		}
		if repository.CABundleSecretRef != nil {
			e.has(graph.Secret, gardencorev1beta1.NamespaceGarden, repository.CABundleSecretRef.Name)
		}
	}
	for _, resource := range d.Resources {
		e.hasNamed(resource.ResourceRef.Kind, gardencorev1beta1.NamespaceGarden, resource.ResourceRef.Name)
	}

	return e.all
}

// Project returns the edge of a Project to its namespace (GAC-GR-7).
func Project(p *gardencorev1beta1.Project) []graph.Edge {
	e := edgesOf(graph.Project, "", p.Name)
	if p.Spec.Namespace != nil {
		e.belongs(graph.Namespace, "", *p.Spec.Namespace)
	}

	return e.all
}
