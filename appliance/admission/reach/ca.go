// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"fmt"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/keysize"
)

// caCertificate and caKey are the keys of a client CA in its InternalSecret.
const caCertificate, caKey = "ca.crt", "ca.key"

// UsableCA rejects a client CA with which the API server would compute for too long when it issues a kubeconfig.
func UsableCA(secret *gardencorev1beta1.InternalSecret) error {
	if keysize.Outsized(secret.Data[caKey], secret.Data[caCertificate]) {
		return fmt.Errorf("data: %w", keysize.ErrOutsized)
	}

	return nil
}
