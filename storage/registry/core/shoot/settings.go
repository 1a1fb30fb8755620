// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Settings are what the stores of shoots need beside those of other kinds. All fields are required.
type Settings struct {
	// Authorizer decides which groups a kubeconfig for a shoot carries (API-KUBE-4).
	Authorizer authorizer.Authorizer
	// ConfigMap reads a ConfigMap of the garden (API-KUBE-5).
	ConfigMap func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	// MaxKubeconfigLifetime bounds the validity of kubeconfigs for shoots (API-KUBE-1).
	MaxKubeconfigLifetime time.Duration
	// CredentialsRotationInterval is how long credentials of a shoot can go without a rotation before a word is said
	// (API-WARN-1).
	CredentialsRotationInterval time.Duration
}
