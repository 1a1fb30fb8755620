// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Kinds of credentials.
const (
	kindSecret           = "Secret"
	kindWorkloadIdentity = "WorkloadIdentity"
)

// ofBinding lists the references of a SecretBinding; its writer must be able to read the credentials (API-RRM-1).
func ofBinding(b *gardencorev1beta1.SecretBinding) []reference {
	return append([]reference{{
		path: "secretRef", kind: kindSecret, readable: true, to: secret(b.SecretRef.Namespace, b.SecretRef.Name),
	}}, ofQuotas(b.Quotas)...)
}

// ofCredentials lists the references of a CredentialsBinding.
func ofCredentials(b *gardensecurityv1alpha1.CredentialsBinding) []reference {
	return append(credentials("credentialsRef", b.CredentialsRef, true), ofQuotas(b.Quotas)...)
}

func ofQuotas(quotas []corev1.ObjectReference) []reference {
	all := make([]reference, 0, len(quotas))
	for i, q := range quotas {
		all = append(all, reference{
			path: fmt.Sprintf("quotas[%d]", i), kind: "Quota", readable: true, to: garden("quotas", q.Namespace, q.Name),
		})
	}
	return all
}

// credentials returns a reference to credentials; static validation rejects other kinds.
func credentials(path string, to corev1.ObjectReference, readable bool) []reference {
	r := reference{path: path, kind: to.Kind, readable: readable}
	switch to.Kind {
	case kindSecret:
		r.to = secret(to.Namespace, to.Name)
	case "InternalSecret":
		r.to = garden("internalsecrets", to.Namespace, to.Name)
	case kindWorkloadIdentity:
		r.to = world.Target{
			Group: gardensecurityv1alpha1.GroupName, Version: gardensecurityv1alpha1.GroupVersion.Version,
			Resource: "workloadidentities", Namespace: to.Namespace, Name: to.Name,
		}
	default:
		return nil
	}
	return []reference{r}
}

// ofRegistration lists the references of a ControllerRegistration, to its deployments (API-RRM-12).
func ofRegistration(r *gardencorev1beta1.ControllerRegistration) []reference {
	if r.Spec.Deployment == nil {
		return nil
	}
	var all []reference
	for i, ref := range r.Spec.Deployment.DeploymentRefs {
		all = append(all, reference{
			path: fmt.Sprintf("spec.deployment.deploymentRefs[%d]", i), kind: "ControllerDeployment",
			to: garden("controllerdeployments", "", ref.Name),
		})
	}
	return all
}

// ofSeed lists the objects of the garden's own namespace that a Seed uses (API-RRM-6).
func ofSeed(s *gardencorev1beta1.Seed) []reference {
	all := named(s.Spec.Resources, gardencorev1beta1.NamespaceGarden, false)
	if ref := s.Spec.SecretRef; ref != nil {
		all = append(all, reference{path: "spec.secretRef", kind: kindSecret, to: secret(ref.Namespace, ref.Name)})
	}
	return all
}

// ofBucket lists the references of a BackupBucket (API-RRM-9).
func ofBucket(b *gardencorev1beta1.BackupBucket) []reference {
	all := ofSeedName(b.Spec.SeedName)
	if ref := b.Spec.CredentialsRef; ref != nil {
		all = append(all, credentials("spec.credentialsRef", *ref, false)...)
	}
	return all
}

// ofEntry lists the references of a BackupEntry (API-RRM-9).
func ofEntry(e *gardencorev1beta1.BackupEntry) []reference {
	all := ofSeedName(e.Spec.SeedName)
	if e.Spec.BucketName == "" {
		return all
	}
	return append(all, reference{path: "spec.bucketName", kind: "BackupBucket", to: garden("backupbuckets", "", e.Spec.BucketName)})
}

func ofSeedName(name *string) []reference {
	if name == nil {
		return nil
	}
	return []reference{{path: "spec.seedName", kind: "Seed", to: garden("seeds", "", *name)}}
}

// ofShoot lists the references of a Shoot to objects of its project (API-RRM-3, 4).
func ofShoot(s *gardencorev1beta1.Shoot) []reference {
	all := named(s.Spec.Resources, s.Namespace, true)
	if name := s.Spec.CredentialsBindingName; name != nil {
		all = append(all, reference{
			path: "spec.credentialsBindingName", kind: "CredentialsBinding",
			to: world.Target{
				Group: gardensecurityv1alpha1.GroupName, Version: gardensecurityv1alpha1.GroupVersion.Version,
				Resource: "credentialsbindings", Namespace: s.Namespace, Name: *name,
			},
		})
	}
	if name := s.Spec.ExposureClassName; name != nil {
		all = append(all, reference{path: "spec.exposureClassName", kind: "ExposureClass", to: garden("exposureclasses", "", *name)})
	}
	if server := s.Spec.Kubernetes.KubeAPIServer; server != nil {
		all = append(all, ofServer(server, s.Namespace)...)
	}
	if s.Spec.DNS == nil {
		return all
	}
	for i, p := range s.Spec.DNS.Providers {
		path := fmt.Sprintf("spec.dns.providers[%d]", i)
		switch {
		case p.CredentialsRef != nil:
			to := corev1.ObjectReference{Kind: p.CredentialsRef.Kind, Namespace: s.Namespace, Name: p.CredentialsRef.Name}
			// An identity must be usable wherever it is named (see entitled).
			all = append(all, credentials(path, to, to.Kind == kindWorkloadIdentity)...)
		case p.SecretName != nil:
			all = append(all, reference{path: path, kind: kindSecret, to: secret(s.Namespace, *p.SecretName)})
		}
	}
	return all
}

// ofServer lists the references of an API server's settings to objects of the project.
func ofServer(c *gardencorev1beta1.KubeAPIServerConfig, namespace string) []reference {
	const path = "spec.kubernetes.kubeAPIServer."
	var all []reference
	for i, p := range c.AdmissionPlugins {
		if p.KubeconfigSecretName != nil {
			all = append(all, reference{
				path: fmt.Sprintf(path+"admissionPlugins[%d].kubeconfigSecretName", i), kind: kindSecret,
				to: secret(namespace, *p.KubeconfigSecretName),
			})
		}
	}
	config := func(at, name string) {
		all = append(all, reference{path: path + at, kind: "ConfigMap", to: world.Target{
			Version: "v1", Resource: "configmaps", Namespace: namespace, Name: name,
		}})
	}
	if a := c.StructuredAuthentication; a != nil {
		config("structuredAuthentication.configMapName", a.ConfigMapName)
	}
	if a := c.StructuredAuthorization; a != nil {
		config("structuredAuthorization.configMapName", a.ConfigMapName)
		for i, k := range a.Kubeconfigs {
			all = append(all, reference{
				path: fmt.Sprintf(path+"structuredAuthorization.kubeconfigs[%d].secretName", i), kind: kindSecret,
				to: secret(namespace, k.SecretName),
			})
		}
	}
	return all
}

// named lists the references that have names, so that provider configs can refer to them.
func named(all []gardencorev1beta1.NamedResourceReference, namespace string, readable bool) []reference {
	references := make([]reference, 0, len(all))
	for i, r := range all {
		version := schema.FromAPIVersionAndKind(r.ResourceRef.APIVersion, r.ResourceRef.Kind)
		plural, _ := meta.UnsafeGuessKindToResource(version)
		references = append(references, reference{
			path: fmt.Sprintf("spec.resources[%d]", i), kind: r.ResourceRef.Kind, readable: readable,
			to: world.Target{
				Group: plural.Group, Version: plural.Version, Resource: plural.Resource,
				Namespace: namespace, Name: r.ResourceRef.Name,
			},
		})
	}
	return references
}
