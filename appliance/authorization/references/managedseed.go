// SPDX-License-Identifier: Apache-2.0

package references

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstraptoken "k8s.io/cluster-bootstrap/token/util"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// ServiceAccountPrefixBootstrap is the prefix of the name of the service account with which a managed seed joins.
const ServiceAccountPrefixBootstrap = "gardenlet-bootstrap-"

const tokenIDLength = 6

// ManagedSeed returns the edges of a ManagedSeed: to its shoot, from its Seed, and while the seed may join from the credentials
// for that (GAC-GR-8).
func ManagedSeed(m *gardenseedmanagementv1alpha1.ManagedSeed, joins bool) []graph.Edge {
	e := edgesOf(graph.ManagedSeed, m.Namespace, m.Name)
	if m.Spec.Shoot != nil {
		e.belongs(graph.Shoot, m.Namespace, m.Spec.Shoot.Name)
	}
	e.has(graph.Seed, "", m.Name)
	if template := SeedTemplate(m); template != nil {
		seedSpec(e, &template.Spec)
	}
	if joins {
		joinCredentials(e, m)
	}

	return withoutInternal(e.all)
}

func joinCredentials(e *edges, m *gardenseedmanagementv1alpha1.ManagedSeed) {
	how := gardenseedmanagementv1alpha1.BootstrapToken
	if m.Spec.Gardenlet != nil && m.Spec.Gardenlet.Bootstrap != nil {
		how = *m.Spec.Gardenlet.Bootstrap
	}
	switch how {
	case gardenseedmanagementv1alpha1.BootstrapToken:
		e.has(graph.Secret, metav1.NamespaceSystem, BootstrapTokenSecret(m.Namespace, m.Name))
	case gardenseedmanagementv1alpha1.BootstrapServiceAccount:
		account := ServiceAccountPrefixBootstrap + m.Name
		e.has(graph.ServiceAccount, m.Namespace, account)
		e.has(graph.ClusterRoleBinding, "", BootstrapBinding(m.Namespace, account))
	case gardenseedmanagementv1alpha1.BootstrapNone:
	}
}

// BootstrapTokenSecret returns the name of the Secret with the token with which a managed seed joins.
func BootstrapTokenSecret(namespace, managedSeed string) string {
	sum := sha256.Sum256([]byte(namespace + "--" + managedSeed))

	return bootstraptoken.BootstrapTokenSecretName(hex.EncodeToString(sum[:])[:tokenIDLength])
}

// BootstrapBinding returns the name of the ClusterRoleBinding that allows a service account to join as a seed.
func BootstrapBinding(namespace, account string) string {
	return gardencorev1beta1.ClusterRoleSeedBootstrapper + ":" + namespace + ":" + account
}

// SeedTemplate returns the template of the Seed of a ManagedSeed: its own or that in the configuration of its gardenlet. It
// may be nil.
func SeedTemplate(m *gardenseedmanagementv1alpha1.ManagedSeed) *gardencorev1beta1.SeedTemplate {
	if m.Spec.SeedTemplate != nil || m.Spec.Gardenlet == nil {
		return m.Spec.SeedTemplate
	}
	var configuration struct {
		SeedConfig *gardencorev1beta1.SeedTemplate `json:"seedConfig"`
	}
	if json.Unmarshal(m.Spec.Gardenlet.Config.Raw, &configuration) != nil {
		return nil
	}

	return configuration.SeedConfig
}

// Joins reports whether a managed seed may join, for the first time or again. seed is nil if the Seed does not exist
// (GAC-SR-15).
func Joins(m *gardenseedmanagementv1alpha1.ManagedSeed, seed *gardencorev1beta1.Seed, now time.Time) bool {
	return query.MayJoin(seed, now, m)
}
