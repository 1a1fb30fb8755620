// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

const (
	subresource = "token"
	// longest is the longest time between two tokens, however long they are valid.
	longest = 24 * time.Hour
	// jitter is the part by which a renewal may come later, so that not all tokens are renewed at once.
	jitter = 0.05
)

// Describe makes a Secret one that holds tokens of the identity, which are used on behalf of an object of the garden.
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
	// Validity is how long a token is to be valid; the garden may decide otherwise.
	Validity time.Duration
	// Clock tells the time.
	Clock clock.PassiveClock
}

// Due is the time until the token of a Secret has to be renewed. It is not positive if the token is missing or due.
func (i Issuer) Due(secret *corev1.Secret) time.Duration {
	at, err := time.Parse(time.RFC3339, secret.Annotations[gardensecurityv1alpha1.AnnotationWorkloadIdentityTokenRenewTimestamp])
	if err != nil || len(secret.Data[gardensecurityv1alpha1.DataKeyToken]) == 0 {
		return 0
	}
	return at.Sub(i.Clock.Now())
}

// Keep copies the token of the existing Secret into the one that was described, if it belongs to the same identity and is not due.
// It reports whether it did.
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

// contextOf is the object of the garden on behalf of which the token of a Secret that was described is used.
func contextOf(secret *corev1.Secret) (*gardensecurityv1alpha1.ContextObject, error) {
	behalf := &gardensecurityv1alpha1.ContextObject{}
	const about = gardensecurityv1alpha1.AnnotationWorkloadIdentityContextObject
	if err := json.Unmarshal([]byte(secret.Annotations[about]), behalf); err != nil {
		return nil, fmt.Errorf("read annotation %s of Secret %q: %w", about, secret.Name, err)
	}
	return behalf, nil
}

// Renew puts a new token into a Secret that was described. It does not write the Secret.
func (i Issuer) Renew(ctx context.Context, secret *corev1.Secret) error {
	behalf, err := contextOf(secret)
	if err != nil {
		return err
	}
	identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{
		Namespace: secret.Annotations[gardensecurityv1alpha1.AnnotationWorkloadIdentityNamespace],
		Name:      secret.Annotations[gardensecurityv1alpha1.AnnotationWorkloadIdentityName],
	}}
	request := &gardensecurityv1alpha1.TokenRequest{Spec: gardensecurityv1alpha1.TokenRequestSpec{
		ContextObject: behalf, ExpirationSeconds: new(int64(i.Validity.Seconds())),
	}}
	if err := i.Garden.SubResource(subresource).Create(ctx, identity, request); err != nil {
		return fmt.Errorf("request token of workload identity %q: %w", client.ObjectKeyFromObject(identity), err)
	}
	now := i.Clock.Now()
	renewal := now.Add(wait.Jitter(min(request.Status.ExpirationTimestamp.Sub(now)/2, longest), jitter))
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardensecurityv1alpha1.AnnotationWorkloadIdentityTokenRenewTimestamp, renewal.UTC().Format(time.RFC3339))
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[gardensecurityv1alpha1.DataKeyToken] = []byte(request.Status.Token)
	return nil
}
