// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"
)

// Options are what the API server lends to the stores. All fields are required.
type Options struct {
	// RESTOptionsGetter says where objects are kept.
	RESTOptionsGetter generic.RESTOptionsGetter
	// Scheme knows every served kind, with its internal twin; Codecs and ParameterCodec are built from it.
	Scheme         *runtime.Scheme
	Codecs         serializer.CodecFactory
	ParameterCodec runtime.ParameterCodec
	// Clock tells the time for certificates and timestamps.
	Clock clock.Clock
	// Authorizer decides which groups a kubeconfig for a shoot carries (API-KUBE-4).
	Authorizer authorizer.Authorizer
	// ConfigMap reads a ConfigMap of the garden (API-KUBE-5).
	ConfigMap func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	// MaxKubeconfigLifetime bounds the validity of kubeconfigs for shoots (API-KUBE-1).
	MaxKubeconfigLifetime time.Duration
	// CredentialsRotationInterval is how long credentials of a shoot can go without a rotation before a word is said
	// (API-WARN-1).
	CredentialsRotationInterval time.Duration
	// Tokens signs the tokens of workload identities (API-TOKEN-1).
	Tokens TokenSigner
}

// TokenSigner signs tokens that systems outside of the garden trust.
type TokenSigner struct {
	// Issuer is the URL under which those systems find the key.
	Issuer string
	// Sign returns a JSON web token with the claims.
	Sign func(claims any) (string, error)
	// MinLifetime and MaxLifetime bound the validity of a token, whatever is asked for.
	MinLifetime, MaxLifetime time.Duration
}
