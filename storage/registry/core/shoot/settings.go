// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Settings are what the stores of shoots need beside those of other kinds. All fields but one are required.
type Settings struct {
	// Authorizer decides which groups a kubeconfig for a shoot carries (API-KUBE-4).
	Authorizer authorizer.Authorizer
	// ConfigMap reads a ConfigMap of the garden (API-KUBE-5).
	ConfigMap func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	// MaxKubeconfigLifetime bounds the validity of kubeconfigs for shoots (API-KUBE-1).
	MaxKubeconfigLifetime time.Duration
	// ShorterKubeconfigLifetime is a further bound that can change; 0 for none. It is optional.
	ShorterKubeconfigLifetime func() time.Duration
	// CredentialsRotationInterval is how long credentials of a shoot can go without a rotation before a word is said
	// (API-WARN-1).
	CredentialsRotationInterval time.Duration
}

// longest is the longest validity of kubeconfigs now.
func (s Settings) longest() time.Duration {
	if s.ShorterKubeconfigLifetime == nil {
		return s.MaxKubeconfigLifetime
	}
	if shorter := s.ShorterKubeconfigLifetime(); shorter > 0 {
		return min(shorter, s.MaxKubeconfigLifetime)
	}

	return s.MaxKubeconfigLifetime
}
