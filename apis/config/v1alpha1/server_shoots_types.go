// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	defaultKubeconfigLifetime = 24 * time.Hour
	defaultRotationInterval   = 90 * 24 * time.Hour
)

// ShootConfiguration says what the API does for the users of shoots.
type ShootConfiguration struct {
	// CredentialsRotationInterval is how long credentials of a shoot can go without a rotation before the API warns users who
	// change the shoot, at least 24h. Defaults to 2160h, which is 90 days.
	// +optional
	CredentialsRotationInterval *metav1.Duration `json:"credentialsRotationInterval,omitempty"`
	// MaxKubeconfigLifetime is the longest validity of kubeconfigs that the API issues for shoots, at least 10m; longer
	// requests are shortened. Defaults to 24h.
	// +optional
	MaxKubeconfigLifetime *metav1.Duration `json:"maxKubeconfigLifetime,omitempty"`
}

func (c *ShootConfiguration) setDefaults() {
	setDuration(&c.CredentialsRotationInterval, defaultRotationInterval)
	setDuration(&c.MaxKubeconfigLifetime, defaultKubeconfigLifetime)
}
