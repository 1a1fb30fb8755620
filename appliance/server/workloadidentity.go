// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// workloadIdentity lays what is configured over what is usual. Without an issuer, that is this server, with its port:
// somebody else may answer at another one.
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
