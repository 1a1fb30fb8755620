// SPDX-License-Identifier: Apache-2.0

package server

import (
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
)

// ofShoots overrides the defaults for shoots with the configuration.
func ofShoots(c *apiserver.Config, given *gardenconfigv1alpha1.ShootConfiguration) {
	if given.MaxKubeconfigLifetime != nil {
		c.MaxKubeconfigLifetime = given.MaxKubeconfigLifetime.Duration
	}
	if given.CredentialsRotationInterval != nil {
		c.CredentialsRotationInterval = given.CredentialsRotationInterval.Duration
	}
}
