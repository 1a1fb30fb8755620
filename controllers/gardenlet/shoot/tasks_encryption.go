// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
)

// encryptionInUse is what the API server has to encrypt, and how. What it has written can only be read with the same
// settings, and nothing is written anew: so they stay as the status reports them, or else as the API server has them
// already. Only a new one begins with what the shoot wants.
func (o *operation) encryptionInUse(ctx context.Context) (gardencorev1beta1.EncryptionAtRest, error) {
	if c := o.shoot.Status.Credentials; c != nil && c.EncryptionAtRest != nil {
		return query.PlainEncryption(*c.EncryptionAtRest), nil
	}
	live := &corev1.Secret{}
	key := client.ObjectKey{Namespace: o.namespace, Name: apiserver.EncryptionSecret}
	err := o.r.SeedClient.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		return query.EncryptionAtRest(&o.shoot.Spec), nil
	}
	if err != nil {
		return gardencorev1beta1.EncryptionAtRest{}, fmt.Errorf("get secret %q: %w", key, err)
	}
	found, err := apiserver.EncryptionOf(live)
	if err != nil {
		return gardencorev1beta1.EncryptionAtRest{}, fmt.Errorf("read secret %q: %w", key, err)
	}
	return query.PlainEncryption(found), nil
}

// encryptionStatus records what the API server encrypts now that it is up. From then on it stays so.
func (o *operation) encryptionStatus(ctx context.Context) error {
	return o.status.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
		if s.Credentials == nil {
			s.Credentials = &gardencorev1beta1.ShootCredentials{}
		}
		if s.Credentials.EncryptionAtRest == nil {
			s.Credentials.EncryptionAtRest = o.encryption.DeepCopy()
		}
		return s
	})
}
