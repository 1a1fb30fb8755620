// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
)

// TokenSigner signs tokens that systems outside of the garden trust (API-TOKEN-1). All fields are required.
type TokenSigner struct {
	// Issuer is the URL under which those systems find the key.
	Issuer string
	// Sign returns a JSON web token with the claims.
	Sign func(claims any) (string, error)
	// MinLifetime and MaxLifetime bound the validity of a token, whatever is asked for.
	MinLifetime, MaxLifetime time.Duration
	// Gardenlet returns the seed of a gardenlet, and false for other users: only gardenlets name the objects for which they use
	// tokens.
	Gardenlet func(user.Info) (seed string, ok bool)
}
