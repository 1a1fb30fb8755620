// SPDX-License-Identifier: Apache-2.0

package server

import (
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
)

// workloadIdentity lays what is configured over what is usual.
func workloadIdentity(
	usual apiserver.WorkloadIdentity, given *gardenconfigv1alpha1.WorkloadIdentityConfiguration,
) apiserver.WorkloadIdentity {
	usual.Issuer = given.Issuer
	if given.MinTokenLifetime != nil {
		usual.MinTokenLifetime = given.MinTokenLifetime.Duration
	}
	if given.MaxTokenLifetime != nil {
		usual.MaxTokenLifetime = given.MaxTokenLifetime.Duration
	}

	return usual
}
