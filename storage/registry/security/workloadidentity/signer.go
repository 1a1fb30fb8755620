// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import "time"

// TokenSigner signs tokens that systems outside of the garden trust (API-TOKEN-1). All fields are required.
type TokenSigner struct {
	// Issuer is the URL under which those systems find the key.
	Issuer string
	// Sign returns a JSON web token with the claims.
	Sign func(claims any) (string, error)
	// MinLifetime and MaxLifetime bound the validity of a token, whatever is asked for.
	MinLifetime, MaxLifetime time.Duration
}
