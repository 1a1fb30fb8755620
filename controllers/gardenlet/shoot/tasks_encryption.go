// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
)

// encryptionStatus records what the API server encrypts now that it is up. From then on it stays so.
func (o *operation) encryptionStatus(ctx context.Context) error {
	live := &corev1.Secret{}
	key := client.ObjectKey{Namespace: o.namespace, Name: apiserver.EncryptionSecret}
	err := o.r.SeedClient.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("get secret %q: %w", key, err)
	}
	encryption, err := apiserver.EncryptionInUse(o.shoot, live)
	if err != nil {
		return err
	}
	return o.status.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
		if s.Credentials == nil {
			s.Credentials = &gardencorev1beta1.ShootCredentials{}
		}
		if s.Credentials.EncryptionAtRest == nil {
			s.Credentials.EncryptionAtRest = &encryption
		}
		return s
	})
}
