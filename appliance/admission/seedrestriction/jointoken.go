// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

const usageSigning = "usage-bootstrap-signing"

// bootstrapToken allows a gardenlet to create bootstrap tokens of a fixed form for managed seeds whose shoots run on its
// seed, and for itself if its certificate has to be replaced. Extensions cannot create tokens (GAC-SR-14).
func (r *request) bootstrapToken(ctx context.Context, secret *corev1.Secret) error {
	if r.client.Extension {
		return fmt.Errorf("extensions cannot create join tokens: %w", errForeign)
	}
	if secret.Type != bootstrapapi.SecretTypeBootstrapToken {
		return fmt.Errorf("type: must be %q", bootstrapapi.SecretTypeBootstrapToken)
	}
	for _, key := range []string{bootstrapapi.BootstrapTokenUsageAuthentication, usageSigning} {
		if jointoken.Value(secret, key) != "true" {
			return fmt.Errorf("data[%s]: must be \"true\"", key)
		}
	}
	for _, key := range []string{bootstrapapi.BootstrapTokenExtraGroupsKey, jointoken.KeySeed, jointoken.KeyRenew} {
		if jointoken.Value(secret, key) != "" {
			return fmt.Errorf("data[%s]: must not be set", key)
		}
	}
	if err := jointoken.CheckLifetime(secret, r.Clock.Now()); err != nil {
		return err
	}
	kind, about, ok := jointoken.Described(jointoken.Value(secret, jointoken.KeyDescription))
	switch {
	case ok && kind == jointoken.KindManagedSeed:
		return cmp.Or(r.joins(ctx, about.Namespace, about.Name), namesToken(secret, about))
	case ok && kind == jointoken.KindGardenlet && about.Namespace == gardencorev1beta1.NamespaceGarden && about.Name == r.client.Seed:
		return cmp.Or(r.rejoins(ctx), namesToken(secret, about))
	default:
		return fmt.Errorf("data[%s]: must name the seed of the token: \"... for the ManagedSeed resource <namespace>/<name>\"",
			jointoken.KeyDescription)
	}
}

// namesToken rejects another name of a token than the one that gardenlets derive from what it is for. With names of its choice, a gardenlet
// could create any number of tokens.
func namesToken(secret *corev1.Secret, about types.NamespacedName) error {
	if want := references.BootstrapTokenSecret(about.Namespace, about.Name); secret.Name != want {
		return fmt.Errorf("metadata.name: the token for %q is %q", about, want)
	}

	return nil
}

// rejoins allows a token for the client's own Gardenlet if the certificate of the seed has to be replaced.
func (r *request) rejoins(ctx context.Context) error {
	gardenlet, err := world.Get[gardenseedmanagementv1alpha1.Gardenlet](ctx, r.View, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "gardenlets",
		Namespace: gardencorev1beta1.NamespaceGarden, Name: r.client.Seed,
	})
	if err != nil {
		return world.Missing(err, "data["+jointoken.KeyDescription+"]", "gardenlet", gardencorev1beta1.NamespaceGarden+"/"+r.client.Seed)
	}
	seed, err := r.Seed(ctx, r.client.Seed)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read seed %q: %w", r.client.Seed, err)
	}
	if !query.MayJoin(seed, r.Clock.Now(), seed, gardenlet) {
		return fmt.Errorf("seed %q %w", seed.Name, errBootstrapped)
	}

	return nil
}
