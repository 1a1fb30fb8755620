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

// secrets is GAC-SAR-12. A join token may be thrown away by the gardenlet that has joined with it. Other ways to a Secret
// with a token lead over the ManagedSeed that it is for. What operators keep in the namespace garden is not the seed's to
// delete; only what belongs to a shoot or to a bucket by its name is.
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

// internalSecrets is a part of GAC-SAR-17: a gardenlet writes those of its shoots, and only reads others.
func internalSecrets(_ context.Context, r *request) (allowed, only bool) {
	_, ok := graph.ShootOf(graph.Vertex{Kind: graph.InternalSecret, Namespace: r.namespace, Name: r.name})

	return false, !ok && (write | remove).has(r.verb)
}

// configMaps is GAC-SAR-7: what a gardenlet writes for a shoot it may change as well.
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

// serviceAccounts is GAC-SAR-14: the accounts of extensions are the gardenlet's to make, with their tokens.
func serviceAccounts(_ context.Context, r *request) (allowed, only bool) {
	if r.client.Extension {
		return r.namespace == r.client.Namespace() && r.part == "" && read.has(r.verb), false
	}
	if r.namespace == r.client.Namespace() {
		return r.part == "" && r.verb != 0 || r.part == partToken && r.verb == create, false
	}

	return r.verb == remove && r.part == "" && r.namespace == gardencorev1beta1.NamespaceGarden &&
		r.name == references.ServiceAccountPrefixBootstrap+r.client.Seed, false
}

// clusterRoleBindings is GAC-SAR-6.
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

// leases is GAC-SAR-10: extensions elect their leaders in the namespace of their seed, and have no lease elsewhere.
func leases(_ context.Context, r *request) (allowed, only bool) {
	if !r.client.Extension {
		return false, false
	}

	return r.namespace == r.client.Namespace() && r.part == "" && r.verb != 0, true
}

// ownShoot is a part of GAC-SAR-15: a seed that was made of a shoot may look at it.
func ownShoot(_ context.Context, r *request) (allowed, only bool) {
	return r.verb == get && r.part == "" && r.namespace == gardencorev1beta1.NamespaceGarden && r.name == r.client.Seed, false
}

// gardenNamespaceOnly is a part of GAC-SAR-11: Gardenlets live in one namespace.
func gardenNamespaceOnly(_ context.Context, r *request) (allowed, only bool) {
	return false, r.namespace != gardencorev1beta1.NamespaceGarden
}

// identityToken is a part of GAC-SAR-17.
func identityToken(ctx context.Context, r *request) (allowed, only bool) {
	return r.verb == create && r.part == partToken &&
		r.belongs(ctx, graph.Vertex{Kind: graph.WorkloadIdentity, Namespace: r.namespace, Name: r.name}), false
}
