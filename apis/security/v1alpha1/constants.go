// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// LabelPurpose says what a Secret of a seed is for.
	LabelPurpose = "security.gardener.cloud/purpose"
	// LabelPurposeTokenRequestor marks Secrets that are to hold a token of a workload identity.
	LabelPurposeTokenRequestor = "workload-identity-token-requestor"
	// LabelWorkloadIdentityProvider is the type of the provider that the tokens in a Secret are for.
	LabelWorkloadIdentityProvider = "workloadidentity.security.gardener.cloud/provider"

	// AnnotationWorkloadIdentityNamespace is the namespace of the identity whose token a Secret is to hold.
	AnnotationWorkloadIdentityNamespace = "workloadidentity.security.gardener.cloud/namespace"
	// AnnotationWorkloadIdentityName is the name of that identity.
	AnnotationWorkloadIdentityName = "workloadidentity.security.gardener.cloud/name"
	// AnnotationWorkloadIdentityContextObject is the ContextObject, in JSON, on behalf of which the token is used.
	AnnotationWorkloadIdentityContextObject = "workloadidentity.security.gardener.cloud/context-object"
	// AnnotationWorkloadIdentityTokenRenewTimestamp is when the token is to be renewed.
	AnnotationWorkloadIdentityTokenRenewTimestamp = "workloadidentity.security.gardener.cloud/token-renew-timestamp"

	// DataKeyToken is the key of the token in a Secret.
	DataKeyToken = "token"
	// DataKeyConfig is the key of the configuration of the target system in the same Secret.
	DataKeyConfig = "config"
)
