// SPDX-License-Identifier: Apache-2.0

package seedauthorizer

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// secrets allows reading Secrets in the namespace of the seed. The gardenlet that has joined with a token may delete it;
// other access to the Secrets of tokens is through the ManagedSeed that they are for. In the namespace garden, a seed may
// delete only Secrets that belong to a shoot or to a bucket by their name, and not those of operators (GAC-SAR-12).
func secrets(ctx context.Context, r *request) (allowed, only bool) {
	if r.part != "" {
		return false, false
	}
	if r.namespace == r.client.Namespace() && read.has(r.verb) {
		return true, false
	}
	if r.namespace == gardencorev1beta1.NamespaceGarden && r.verb == remove {
		return false, !byName(graph.Vertex{Kind: graph.Secret, Namespace: r.namespace, Name: r.name})
	}
	token, ok := strings.CutPrefix(r.name, bootstrapapi.BootstrapTokenSecretPrefix)
	if !ok || r.verb != remove || r.namespace != metav1.NamespaceSystem || r.client.Extension {
		return false, false
	}
	if r.name == references.BootstrapTokenSecret(gardencorev1beta1.NamespaceGarden, r.client.Seed) {
		return true, false
	}

	return r.belongs(ctx, graph.Vertex{Kind: graph.JoinToken, Name: token}), false
}

// byName reports whether a Secret belongs to a shoot or to a bucket by its name.
func byName(secret graph.Vertex) bool {
	_, shoot := graph.ShootOf(secret)
	_, bucket := graph.BucketOf(secret)

	return shoot || bucket
}

// internalSecrets restricts writes to the InternalSecrets of shoots; others can only be read (GAC-SAR-17).
func internalSecrets(_ context.Context, r *request) (allowed, only bool) {
	_, ok := graph.ShootOf(graph.Vertex{Kind: graph.InternalSecret, Namespace: r.namespace, Name: r.name})

	return false, !ok && (write | remove).has(r.verb)
}

// configMaps allows reading the information about the garden, and changing the ConfigMaps of shoots of the seed (GAC-SAR-7).
func configMaps(ctx context.Context, r *request) (allowed, only bool) {
	if r.part != "" {
		return false, false
	}
	if r.namespace == gardencorev1beta1.NamespacePublic && r.name == gardencorev1beta1.ConfigMapGardenerInfo && r.verb == get {
		return true, false
	}
	at := graph.Vertex{Kind: graph.ConfigMap, Namespace: r.namespace, Name: r.name}
	if _, ok := graph.ShootOf(at); ok && (write | remove).has(r.verb) {
		return r.belongs(ctx, at), false
	}

	return false, false
}

// serviceAccounts allows a gardenlet to manage the service accounts of extensions, with their tokens, and to delete its own
// bootstrap account. Extensions may read service accounts (GAC-SAR-14).
func serviceAccounts(_ context.Context, r *request) (allowed, only bool) {
	if r.client.Extension {
		return r.namespace == r.client.Namespace() && r.part == "" && read.has(r.verb), false
	}
	if r.namespace == r.client.Namespace() {
		// A request to create an object has no name yet, and one for a list none at all.
		if r.name != "" && !strings.HasPrefix(r.name, gardencorev1beta1.NamespacePrefixExtension) {
			return false, false
		}

		return r.part == "" && r.verb != 0 || r.part == partToken && r.verb == create, false
	}

	return r.verb == remove && r.part == "" && r.namespace == gardencorev1beta1.NamespaceGarden &&
		r.name == references.ServiceAccountPrefixBootstrap+r.client.Seed, false
}

// clusterRoleBindings allows a gardenlet to delete its own bootstrap binding (GAC-SAR-6).
func clusterRoleBindings(_ context.Context, r *request) (allowed, only bool) {
	if r.verb != remove || r.part != "" || r.client.Extension {
		return false, false
	}
	for _, account := range []string{r.client.Seed, references.ServiceAccountPrefixBootstrap + r.client.Seed} {
		if r.name == references.BootstrapBinding(gardencorev1beta1.NamespaceGarden, account) {
			return true, false
		}
	}

	return false, false
}

// leases allows extensions all verbs in the namespace of their seed, for leader election, and no leases in other namespaces
// (GAC-SAR-10).
func leases(_ context.Context, r *request) (allowed, only bool) {
	if !r.client.Extension {
		return false, false
	}

	return r.namespace == r.client.Namespace() && r.part == "" && r.verb != 0, true
}

// ownShoot allows a managed seed to read its own shoot (GAC-SAR-15).
func ownShoot(_ context.Context, r *request) (allowed, only bool) {
	return r.verb == get && r.part == "" && r.namespace == gardencorev1beta1.NamespaceGarden && r.name == r.client.Seed, false
}

// ownManagedSeed allows a gardenlet to look whether its seed is a managed one. The ManagedSeed belongs to the seed that runs its shoot
// (GAC-SAR-11).
func ownManagedSeed(_ context.Context, r *request) (allowed, only bool) {
	return r.verb == get && r.part == "" && !r.client.Extension && r.namespace == gardencorev1beta1.NamespaceGarden && r.name == r.client.Seed, false
}

// gardenNamespaceOnly restricts access to the namespace garden, in which all Gardenlets and ManagedSeeds are (GAC-SAR-11).
func gardenNamespaceOnly(_ context.Context, r *request) (allowed, only bool) {
	return false, r.namespace != gardencorev1beta1.NamespaceGarden
}

// identityToken allows tokens of workload identities that belong to the seed (GAC-SAR-17).
func identityToken(ctx context.Context, r *request) (allowed, only bool) {
	return r.verb == create && r.part == partToken &&
		r.belongs(ctx, graph.Vertex{Kind: graph.WorkloadIdentity, Namespace: r.namespace, Name: r.name}), false
}
