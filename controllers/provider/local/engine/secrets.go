// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"

	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// Secrets are the certificate authorities and certificates that the extension has for a purpose of its own in a shoot, such as a server that
// it deploys beside the control plane (EXT-SEC-2). They are not those of the shoot, whose Secrets have names that change (EXT-SEC-3). An
// authority is rotated in the same steps as those of the shoot: in the first a new one comes and both are trusted, in the last the old one
// goes. It is marked to be carried along when the control plane moves, so a migration must leave it alone.
//
// The caller asks for everything that it needs, and then has the rest deleted by Cleanup.
func (a Access) Secrets(ctx context.Context, cluster *Cluster, purpose string) (*secrets.Manager, error) {
	if cluster == nil || purpose == "" {
		return nil, errors.New("secrets of an extension belong to a shoot and have a purpose")
	}
	return secrets.Load(ctx, secrets.Config{
		Client: a.Seed.Client, Namespace: cluster.Namespace, Identity: Name + "-" + purpose, Clock: a.Seed.Clock,
		Rotations: secrets.RotationsOf(cluster.Shoot.Status),
	})
}
