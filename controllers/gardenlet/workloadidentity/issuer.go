// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

const (
	// DefaultValidity is the lifetime of tokens unless the configuration says otherwise.
	DefaultValidity = 6 * time.Hour

	subresource = "token"
	// longest is the longest time between two tokens, however long they are valid.
	longest = 24 * time.Hour
)

// Describe makes a Secret one that is to hold tokens of the identity, used on behalf of an object of the garden.
func Describe(secret *corev1.Secret, identity *gardensecurityv1alpha1.WorkloadIdentity, behalf gardensecurityv1alpha1.ContextObject) error {
	data, err := json.Marshal(behalf)
	if err != nil {
		return fmt.Errorf("encode context object %q: %w", behalf.Name, err)
	}
	metav1.SetMetaDataLabel(&secret.ObjectMeta, gardensecurityv1alpha1.LabelPurpose, gardensecurityv1alpha1.LabelPurposeTokenRequestor)
	metav1.SetMetaDataLabel(&secret.ObjectMeta, gardensecurityv1alpha1.LabelWorkloadIdentityProvider, identity.Spec.TargetSystem.Type)
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardensecurityv1alpha1.AnnotationWorkloadIdentityNamespace, identity.Namespace)
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardensecurityv1alpha1.AnnotationWorkloadIdentityName, identity.Name)
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardensecurityv1alpha1.AnnotationWorkloadIdentityContextObject, string(data))
	secret.Data = map[string][]byte{}
	if config := identity.Spec.TargetSystem.ProviderConfig; config != nil {
		secret.Data[gardensecurityv1alpha1.DataKeyConfig] = config.Raw
	}
	return nil
}

// Issuer asks the garden for tokens.
type Issuer struct {
	// Garden reaches the garden.
	Garden client.Client
	// Validity is how long a token shall be valid; the garden may decide otherwise.
	Validity time.Duration
	// Clock tells the time.
	Clock clock.PassiveClock
	// Jitter makes a time a little longer, so that not all tokens are renewed at once; nil leaves it as it is.
	Jitter func(time.Duration) time.Duration
}

// Due is how long the token of a Secret needs no renewal. It is zero, or less, if the token is missing or to be renewed.
func (i Issuer) Due(secret *corev1.Secret) time.Duration {
	at, err := time.Parse(time.RFC3339, secret.Annotations[gardensecurityv1alpha1.AnnotationWorkloadIdentityTokenRenewTimestamp])
	if err != nil || len(secret.Data[gardensecurityv1alpha1.DataKeyToken]) == 0 {
		return 0
	}
	return at.Sub(i.Clock.Now())
}

// Keep takes the token of a Secret over into a description of it if it is one of the same identity and still good.
func (i Issuer) Keep(secret, from *corev1.Secret) bool {
	for _, key := range []string{
		gardensecurityv1alpha1.AnnotationWorkloadIdentityNamespace, gardensecurityv1alpha1.AnnotationWorkloadIdentityName,
		gardensecurityv1alpha1.AnnotationWorkloadIdentityContextObject,
	} {
		if secret.Annotations[key] != from.Annotations[key] {
			return false
		}
	}
	if i.Due(from) <= 0 {
		return false
	}
	const renewal = gardensecurityv1alpha1.AnnotationWorkloadIdentityTokenRenewTimestamp
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, renewal, from.Annotations[renewal])
	secret.Data[gardensecurityv1alpha1.DataKeyToken] = from.Data[gardensecurityv1alpha1.DataKeyToken]
	return true
}

// Renew puts a new token into a Secret that was described. It does not write the Secret.
func (i Issuer) Renew(ctx context.Context, secret *corev1.Secret) error {
	behalf := &gardensecurityv1alpha1.ContextObject{}
	const about = gardensecurityv1alpha1.AnnotationWorkloadIdentityContextObject
	if err := json.Unmarshal([]byte(secret.Annotations[about]), behalf); err != nil {
		return fmt.Errorf("read annotation %s of Secret %q: %w", about, secret.Name, err)
	}
	identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{
		Namespace: secret.Annotations[gardensecurityv1alpha1.AnnotationWorkloadIdentityNamespace],
		Name:      secret.Annotations[gardensecurityv1alpha1.AnnotationWorkloadIdentityName],
	}}
	validity := i.Validity
	if validity <= 0 {
		validity = DefaultValidity
	}
	request := &gardensecurityv1alpha1.TokenRequest{Spec: gardensecurityv1alpha1.TokenRequestSpec{
		ContextObject: behalf, ExpirationSeconds: new(int64(validity.Seconds())),
	}}
	if err := i.Garden.SubResource(subresource).Create(ctx, identity, request); err != nil {
		return fmt.Errorf("request token of workload identity %q: %w", client.ObjectKeyFromObject(identity), err)
	}
	now := i.Clock.Now()
	half := min(request.Status.ExpirationTimestamp.Sub(now)/2, longest)
	if i.Jitter != nil {
		half = i.Jitter(half)
	}
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardensecurityv1alpha1.AnnotationWorkloadIdentityTokenRenewTimestamp, now.Add(half).UTC().Format(time.RFC3339))
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[gardensecurityv1alpha1.DataKeyToken] = []byte(request.Status.Token)
	return nil
}
