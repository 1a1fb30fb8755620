// SPDX-License-Identifier: Apache-2.0

package references

import (
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Bastion returns the edge of a Bastion to its seed (GAC-GR-4).
func Bastion(b *gardenoperationsv1alpha1.Bastion) []graph.Edge {
	e := edgesOf(graph.Bastion, b.Namespace, b.Name)
	e.belongsToSeed(b.Spec.SeedName)

	return e.all
}

// CredentialsBinding returns the edge from the credentials of a CredentialsBinding (GAC-GR-5).
func CredentialsBinding(b *gardensecurityv1alpha1.CredentialsBinding) []graph.Edge {
	e := edgesOf(graph.CredentialsBinding, b.Namespace, b.Name)
	e.hasObject(&b.CredentialsRef)

	return e.all
}

// CertificateSigningRequest returns the edges of a request for the certificate of a gardenlet: the request belongs to its
// seed, and so does the join token that was used for it, which the gardenlet deletes when it has its certificate (GAC-GR-7).
func CertificateSigningRequest(r *certificatesv1.CertificateSigningRequest) []graph.Edge {
	seed, err := SeedOfRequest(&r.Spec)
	if err != nil || seed == "" {
		return nil
	}
	e := edgesOf(graph.CertificateSigningRequest, "", r.Name)
	e.belongs(graph.Seed, "", seed)
	if token, ok := strings.CutPrefix(r.Spec.Username, bootstrapapi.BootstrapUserPrefix); ok {
		e.has(graph.JoinToken, "", token)
	}

	return e.all
}

// ServiceAccount returns the edges of the service account with which a managed seed joins, which is in the namespace garden
// (GAC-GR-9).
func ServiceAccount(a *corev1.ServiceAccount) []graph.Edge {
	e := edgesOf(graph.ServiceAccount, a.Namespace, a.Name)
	if a.Namespace == gardencorev1beta1.NamespaceGarden && strings.HasPrefix(a.Name, ServiceAccountPrefixBootstrap) {
		for _, secret := range a.Secrets {
			e.has(graph.Secret, a.Namespace, secret.Name)
		}
	}

	return e.all
}
