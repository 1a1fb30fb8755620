// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// OfSelfHosted returns the edges of an object in the graph of what belongs to which self-hosted shoot, whose gardenlet is in the hands
// of somebody who is only a member of a project. So no path there leads from an object with data to a shoot in another namespace,
// whatever refers to it, and none leads through a Seed, a ManagedSeed, a ControllerDeployment or another shoot (GAC-SHOOTR-1).
func OfSelfHosted(obj any) []graph.Edge {
	switch o := obj.(type) {
	case *gardencorev1beta1.BackupBucket:
		return bucketOfShoot(o)
	case *gardencorev1beta1.BackupEntry:
		e := edgesOf(graph.BackupEntry, o.Namespace, o.Name)
		if ref := o.Spec.ShootRef; ref != nil && ref.Namespace == o.Namespace {
			e.belongs(graph.Shoot, ref.Namespace, ref.Name)
		}

		return e.all
	case *gardenoperationsv1alpha1.Bastion:
		e := edgesOf(graph.Bastion, o.Namespace, o.Name)
		e.belongs(graph.Shoot, o.Namespace, o.Spec.ShootRef.Name)

		return e.all
	case *certificatesv1.CertificateSigningRequest:
		return requestOfShoot(o)
	case *gardencorev1beta1.ControllerInstallation:
		return installationOfShoot(o)
	case *gardensecurityv1alpha1.CredentialsBinding:
		return near(o.Namespace, CredentialsBinding(o))
	case *gardencorev1beta1.Project:
		return Project(o)
	case *gardencorev1beta1.SecretBinding:
		return near(o.Namespace, SecretBinding(o))
	case *gardencorev1beta1.Shoot:
		return selfHosted(o)
	default:
		return nil
	}
}

// selfHosted returns the edges from what a self-hosted shoot refers to. Others have no gardenlet of their own.
func selfHosted(s *gardencorev1beta1.Shoot) []graph.Edge {
	if !query.SelfHosted(&s.Spec) {
		return nil
	}
	e := edgesOf(graph.Shoot, s.Namespace, s.Name)
	shootUses(e, s)

	return near(s.Namespace, e.all)
}

// bucketOfShoot returns the edges of a bucket to its shoot, and from credentials in the namespace of the shoot.
func bucketOfShoot(b *gardencorev1beta1.BackupBucket) []graph.Edge {
	ref := b.Spec.ShootRef
	if ref == nil || ref.Namespace == "" {
		return nil
	}
	e := edgesOf(graph.BackupBucket, "", b.Name)
	e.belongs(graph.Shoot, ref.Namespace, ref.Name)
	e.hasSecret(b.Spec.SecretRef)
	e.hasObject(b.Spec.CredentialsRef)

	return near(ref.Namespace, e.all)
}

// installationOfShoot returns the edges of an installation to its shoot, and from its registration and deployment. What the deployment
// refers to is in the namespace garden and belongs to no shoot.
func installationOfShoot(i *gardencorev1beta1.ControllerInstallation) []graph.Edge {
	ref := i.Spec.ShootRef
	if ref == nil || ref.Namespace == "" {
		return nil
	}
	e := edgesOf(graph.ControllerInstallation, "", i.Name)
	e.belongs(graph.Shoot, ref.Namespace, ref.Name)
	e.has(graph.ControllerRegistration, "", i.Spec.RegistrationRef.Name)
	if i.Spec.DeploymentRef != nil {
		e.has(graph.ControllerDeployment, "", i.Spec.DeploymentRef.Name)
	}

	return e.all
}

func requestOfShoot(r *certificatesv1.CertificateSigningRequest) []graph.Edge {
	shoot, err := ShootOfRequest(&r.Spec)
	if err != nil {
		return nil
	}
	e := edgesOf(graph.CertificateSigningRequest, "", r.Name)
	e.belongs(graph.Shoot, shoot.Namespace, shoot.Name)

	return e.all
}

// near removes the edges from objects with data that are not in a namespace, that belong by their name to a shoot or to a bucket, and from
// all InternalSecrets: those of a shoot belong to it by their name.
func near(namespace string, all []graph.Edge) []graph.Edge {
	return slices.DeleteFunc(all, func(e graph.Edge) bool {
		switch e.From.Kind {
		case graph.InternalSecret:
			return true
		case graph.Secret, graph.ConfigMap, graph.WorkloadIdentity:
			_, ofShoot := graph.ShootOf(e.From)
			_, ofBucket := graph.BucketOf(e.From)

			return ofShoot || ofBucket || e.From.Namespace != namespace
		default:
			return false
		}
	})
}
