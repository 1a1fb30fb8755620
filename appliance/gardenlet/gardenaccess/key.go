// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dataKeyPending is the key in the bootstrap Secret for the private key of a requested certificate.
const dataKeyPending = "pending.key"

// bootstrapKey returns the private key for the certificate request of a bootstrap. It is stored with the bootstrap
// credentials, which need the same protection, until the certificate is stored: the garden issues one certificate for a token,
// and a gardenlet that was interrupted can get it only for the same key.
func (a *Access) bootstrapKey(ctx context.Context) ([]byte, error) {
	reference := a.settings.BootstrapKubeconfig
	secret, err := a.readSecret(ctx, reference)
	if err != nil {
		return nil, err
	}
	if secret != nil {
		if key := secret.Data[dataKeyPending]; usableKey(key) {
			return key, nil
		}
	}
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, fmt.Errorf("generate private key: %w", err)
	}
	patch, err := json.Marshal(map[string]any{"data": map[string][]byte{dataKeyPending: key}})
	if err != nil {
		return nil, fmt.Errorf("encode private key: %w", err)
	}
	secret = &corev1.Secret{}
	secret.Namespace, secret.Name = reference.Namespace, reference.Name
	if err := a.surroundings.Seed.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("store private key in bootstrap Secret %s: %w", name(reference), err)
	}

	return key, nil
}

func usableKey(key []byte) bool {
	if len(key) == 0 {
		return false
	}
	_, err := keyutil.ParsePrivateKeyPEM(key)

	return err == nil
}
