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
	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
)

// secrets allows reading Secrets in the namespace of the seed. The gardenlet that has joined with a token may delete it;
// other access to the Secrets of tokens is through the ManagedSeed that they are for. Extensions have none: with a token, they would join in
// place of a gardenlet. In the namespace garden, a seed may
// delete only Secrets that belong to a shoot or to a bucket by their name, and not those of operators (GAC-SAR-12).
func secrets(ctx context.Context, r *request) (allowed, only bool) {
	if r.Part != "" {
		return false, false
	}
	if r.Namespace == r.Client.Namespace() && rules.Read.Has(r.Verb) {
		return true, false
	}
	if r.Namespace == gardencorev1beta1.NamespaceGarden && r.Verb == rules.Delete {
		return false, !byName(graph.Vertex{Kind: graph.Secret, Namespace: r.Namespace, Name: r.Name})
	}
	token, ok := strings.CutPrefix(r.Name, bootstrapapi.BootstrapTokenSecretPrefix)
	if ok && r.Namespace == metav1.NamespaceSystem && r.Client.Extension {
		return false, true
	}
	if !ok || r.Verb != rules.Delete || r.Namespace != metav1.NamespaceSystem {
		return false, false
	}
	if r.Name == references.BootstrapTokenSecret(gardencorev1beta1.NamespaceGarden, r.Client.Seed) {
		return true, false
	}

	return r.Belongs(ctx, graph.Vertex{Kind: graph.JoinToken, Name: token}), false
}

// byName reports whether a Secret belongs to a shoot or to a bucket by its name.
func byName(secret graph.Vertex) bool {
	_, shoot := graph.ShootOf(secret)
	_, bucket := graph.BucketOf(secret)

	return shoot || bucket
}

// internalSecrets restricts writes to the InternalSecrets of shoots; others can only be read (GAC-SAR-17).
func internalSecrets(_ context.Context, r *request) (allowed, only bool) {
	_, ok := graph.ShootOf(graph.Vertex{Kind: graph.InternalSecret, Namespace: r.Namespace, Name: r.Name})

	return false, !ok && (rules.Write | rules.Delete).Has(r.Verb)
}

// configMaps allows reading the information about the garden, and changing the ConfigMaps of shoots of the seed (GAC-SAR-7).
func configMaps(ctx context.Context, r *request) (allowed, only bool) {
	if r.Part != "" {
		return false, false
	}
	if r.Namespace == gardencorev1beta1.NamespacePublic && r.Name == gardencorev1beta1.ConfigMapGardenerInfo && r.Verb == rules.Get {
		return true, false
	}
	at := graph.Vertex{Kind: graph.ConfigMap, Namespace: r.Namespace, Name: r.Name}
	if _, ok := graph.ShootOf(at); ok && (rules.Write | rules.Delete).Has(r.Verb) {
		return r.Belongs(ctx, at), false
	}

	return false, false
}

// serviceAccounts allows a gardenlet to manage the service accounts of extensions, with their tokens, and to delete its own
// bootstrap account. Extensions may read service accounts (GAC-SAR-14).
func serviceAccounts(_ context.Context, r *request) (allowed, only bool) {
	if r.Client.Extension {
		return r.Namespace == r.Client.Namespace() && r.Part == "" && rules.Read.Has(r.Verb), false
	}
	if r.Namespace == r.Client.Namespace() {
		// A request to create an object has no name yet, and one for a list none at all.
		if r.Name != "" && !strings.HasPrefix(r.Name, gardencorev1beta1.NamespacePrefixExtension) {
			return false, false
		}

		return r.Part == "" && r.Verb != 0 || r.Part == partToken && r.Verb == rules.Create, false
	}

	return r.Verb == rules.Delete && r.Part == "" && r.Namespace == gardencorev1beta1.NamespaceGarden &&
		r.Name == references.ServiceAccountPrefixBootstrap+r.Client.Seed, false
}

// clusterRoleBindings allows a gardenlet to delete its own bootstrap binding (GAC-SAR-6).
func clusterRoleBindings(_ context.Context, r *request) (allowed, only bool) {
	if r.Verb != rules.Delete || r.Part != "" || r.Client.Extension {
		return false, false
	}
	for _, account := range []string{r.Client.Seed, references.ServiceAccountPrefixBootstrap + r.Client.Seed} {
		if r.Name == references.BootstrapBinding(gardencorev1beta1.NamespaceGarden, account) {
			return true, false
		}
	}

	return false, false
}

// leases allows extensions all verbs in the namespace of their seed, for leader election, and no leases in other namespaces
// (GAC-SAR-10).
func leases(_ context.Context, r *request) (allowed, only bool) {
	if !r.Client.Extension {
		return false, false
	}

	return r.Namespace == r.Client.Namespace() && r.Part == "" && r.Verb != 0, true
}

// ownShoot allows a managed seed to read its own shoot (GAC-SAR-15).
func ownShoot(_ context.Context, r *request) (allowed, only bool) {
	return r.Verb == rules.Get && r.Part == "" && r.Namespace == gardencorev1beta1.NamespaceGarden && r.Name == r.Client.Seed, false
}

// ownManagedSeed allows a gardenlet to look whether its seed is a managed one. The ManagedSeed belongs to the seed that runs its shoot
// (GAC-SAR-11).
func ownManagedSeed(_ context.Context, r *request) (allowed, only bool) {
	return r.Verb == rules.Get && r.Part == "" && !r.Client.Extension && r.Namespace == gardencorev1beta1.NamespaceGarden && r.Name == r.Client.Seed, false
}

// gardenNamespaceOnly restricts access to the namespace garden, in which all Gardenlets and ManagedSeeds are (GAC-SAR-11).
func gardenNamespaceOnly(_ context.Context, r *request) (allowed, only bool) {
	return false, r.Namespace != gardencorev1beta1.NamespaceGarden
}

// identityToken allows tokens of workload identities that belong to the seed (GAC-SAR-17).
func identityToken(ctx context.Context, r *request) (allowed, only bool) {
	return r.Verb == rules.Create && r.Part == partToken &&
		r.Belongs(ctx, graph.Vertex{Kind: graph.WorkloadIdentity, Namespace: r.Namespace, Name: r.Name}), false
}
