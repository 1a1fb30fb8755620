// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"crypto/rand"
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

// secretsInit reads which authorities, keys and certificates there are. Whoever needs one takes or makes it.
func (o *operation) secretsInit(ctx context.Context) error {
	var err error
	o.secrets, err = secrets.Load(ctx, secrets.Config{
		Client: o.r.SeedClient, Namespace: o.namespace, Identity: managerIdentity, Clock: o.r.Clock, Random: rand.Reader,
	})
	return err
}

// sshKey opens the machines; it is nil if they cannot be reached by SSH.
func (o *operation) sshKey(ctx context.Context) (*secrets.SSHKey, error) {
	if !query.SSHAllowed(&o.shoot.Spec) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	return o.secrets.SSHKey(ctx, gardencorev1beta1.SecretSSHKeypair)
}

// sshPublicKey is what machines let in, or nothing.
func (o *operation) sshPublicKey(ctx context.Context) ([]byte, error) {
	key, err := o.sshKey(ctx)
	if key == nil {
		return nil, err
	}
	return key.Public, nil
}

// access is a certificate with all rights in the shoot, for those who act on it from the seed.
func (o *operation) access(ctx context.Context, name, user string) (*secrets.Certificate, error) {
	ca, err := o.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return nil, err
	}
	return o.secrets.Certificate(ctx, secrets.CertificateSpec{
		Name: name, CA: ca, Usage: secrets.UsageClient, CommonName: user, Organizations: []string{gardencorev1beta1.GroupMasters}, Validity: accessValidity,
	})
}
