// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"strings"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// workloadIdentity overrides the defaults with the configuration. The default issuer is this server with its port, because another
// service may use the default port.
func workloadIdentity(
	usual apiserver.WorkloadIdentity, given *gardenconfigv1alpha1.WorkloadIdentityConfiguration, server string,
) apiserver.WorkloadIdentity {
	usual.Issuer = given.Issuer
	if usual.Issuer == "" {
		usual.Issuer = strings.TrimSuffix(server, ":443") + identity.WorkloadIdentityPath
	}
	if given.MinTokenLifetime != nil {
		usual.MinTokenLifetime = given.MinTokenLifetime.Duration
	}
	if given.MaxTokenLifetime != nil {
		usual.MaxTokenLifetime = given.MaxTokenLifetime.Duration
	}

	return usual
}

// documents returns the mounts that everybody may read: the CA, for clients that do not trust the server yet, and the keys of
// workload identities, for verifiers of tokens, which have no credentials.
func documents(keys *identity.Garden, issuer string) (gateway.Mounts, error) {
	discovery, err := identity.WorkloadIdentityDiscovery(issuer)
	if err != nil {
		return nil, fmt.Errorf("publish workload identity issuer: %w", err)
	}

	return gateway.Mounts{
		gateway.Document(identity.CAPath, "application/x-pem-file", keys.Authorities.CABundle),
		gateway.Document(identity.WorkloadIdentityPath+"/.well-known/openid-configuration", "application/json", func() []byte { return discovery }),
		gateway.Document(identity.WorkloadIdentityPath+"/jwks", "application/jwk-set+json", func() []byte { return keys.WorkloadIdentity.Keys().KeySet }),
	}, nil
}
