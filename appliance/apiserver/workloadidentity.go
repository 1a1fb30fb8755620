// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
	"github.com/terrarium-garden/terrarium/storage/registry/security/workloadidentity"
)

// WorkloadIdentity configures the tokens of workload identities.
type WorkloadIdentity struct {
	// Issuer is the issuer of the tokens, the URL under which verifiers find the key. Tokens become invalid when it
	// changes.
	Issuer string
	// MinTokenLifetime and MaxTokenLifetime limit the validity of a token.
	MinTokenLifetime, MaxTokenLifetime time.Duration
}

func (c *completed) tokenSigner() workloadidentity.TokenSigner {
	return workloadidentity.TokenSigner{
		Issuer:      c.WorkloadIdentity.Issuer,
		Sign:        c.Identity.WorkloadIdentity.Sign,
		MinLifetime: c.WorkloadIdentity.MinTokenLifetime,
		MaxLifetime: c.WorkloadIdentity.MaxTokenLifetime,
		Gardenlet: func(who user.Info) (string, bool) {
			client, ok := seedclient.Of(who)

			return client.Seed, ok && !client.Extension
		},
	}
}
