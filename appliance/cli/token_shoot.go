// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
)

// about is the description of the token, from which the garden reads the shoot that it is for.
func (o *tokenCreateOptions) about() string {
	shoot, ok := jointoken.ParseShoot(o.shoot)
	if !ok {
		return o.description
	}
	return strings.TrimSpace(o.description + " " + jointoken.ForShoot(shoot))
}

// checkShoot returns an error if the gardenlet of the shoot could not join with a new token: a token that is older than its shoot is refused.
func (o *tokenCreateOptions) checkShoot(ctx context.Context, g *garden) error {
	shoot, ok := jointoken.ParseShoot(o.shoot)
	if !ok {
		return nil
	}
	found, err := g.shoot(ctx, shoot)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("--shoot: shoot %q does not exist: create it first, because a token that is older than its shoot is refused", shoot)
	case err != nil:
		return fmt.Errorf("--shoot: read shoot %q: %w", shoot, err)
	case !query.SelfHosted(&found.Spec):
		return fmt.Errorf("--shoot: shoot %q is not self-hosted: no worker pool runs its control plane, so it has no gardenlet of its own", shoot)
	default:
		return nil
	}
}

func (g *garden) shoot(ctx context.Context, key types.NamespacedName) (*gardencorev1beta1.Shoot, error) {
	data, err := g.client.Discovery().RESTClient().Get().
		AbsPath("/apis", gardencorev1beta1.GroupVersion.String(), "namespaces", key.Namespace, "shoots", key.Name).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	found := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(data, found); err != nil {
		return nil, fmt.Errorf("read the answer of the garden: %w", err)
	}
	return found, nil
}
