// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// accessValidity is the life of the gardenlet's own certificate for a shoot; every run renews it in time.
	accessValidity = 30 * 24 * time.Hour

	accessUser    = "gardener.cloud:system:gardenlet"
	extensionUser = "gardener.cloud:system:extensions"
)

// authorities are the generated secrets of a shoot: whoever needs one takes or makes it.
type authorities struct {
	*secrets.Manager

	shoot *gardencorev1beta1.Shoot
}

// loadAuthorities reads what earlier runs have made.
func loadAuthorities(ctx context.Context, g ground) (authorities, error) {
	manager, err := secrets.Load(ctx, secrets.Config{
		Client: g.seed, Namespace: g.facts.Namespace, Identity: managerIdentity, Clock: g.clock,
		Rotations: secrets.RotationsOf(g.facts.Shoot.Status),
	})
	return authorities{Manager: manager, shoot: g.facts.Shoot}, err
}

// sshKey opens the machines; it is nil if they cannot be reached by SSH.
func (a authorities) sshKey(ctx context.Context) (*secrets.SSHKey, error) {
	if !query.SSHAllowed(&a.shoot.Spec) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	return a.SSHKey(ctx, gardencorev1beta1.SecretSSHKeypair)
}

// sshPublicKey is what machines let in, or nothing.
func (a authorities) sshPublicKey(ctx context.Context) ([]byte, error) {
	key, err := a.sshKey(ctx)
	if key == nil {
		return nil, err
	}
	return key.Public, nil
}

// access is a certificate with all rights in the shoot, for those who act on it from the seed.
func (a authorities) access(ctx context.Context, name, user string) (*secrets.Certificate, error) {
	ca, err := a.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return nil, err
	}
	return a.Certificate(ctx, secrets.CertificateSpec{
		Name: name, CA: ca, Usage: secrets.UsageClient, CommonName: user, Organizations: []string{gardencorev1beta1.GroupMasters}, Validity: accessValidity,
	})
}
