// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserverapi "k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

// openPaths are the paths that can be requested without authentication. RBAC authorizes the requests.
func openPaths() []string {
	return []string{"/healthz", "/livez", "/readyz", "/version"}
}

// withOpenPaths accepts requests without credentials for the open paths only. Invalid credentials are rejected for all
// paths.
func withOpenPaths(next authenticator.Request) authenticator.Request {
	var conditions []apiserverapi.AnonymousAuthCondition
	for _, path := range openPaths() {
		conditions = append(conditions, apiserverapi.AnonymousAuthCondition{Path: path})
	}

	return union.NewFailOnError(next, anonymous.NewAuthenticator(conditions))
}

// tokenOwners reads the objects to which a service account token can be bound. An object that the caches do not have yet is read from
// the server itself: who has just created an account and a token of it may use the token at once. A garden has no pods and no nodes.
type tokenOwners struct {
	client   corev1client.CoreV1Interface
	secrets  corev1listers.SecretLister
	accounts corev1listers.ServiceAccountLister
}

func tokenObjects(client kubernetes.Interface) func(informers.SharedInformerFactory) serviceaccount.ServiceAccountTokenGetter {
	return func(factory informers.SharedInformerFactory) serviceaccount.ServiceAccountTokenGetter {
		return tokenOwners{
			client:   client.CoreV1(),
			secrets:  factory.Core().V1().Secrets().Lister(),
			accounts: factory.Core().V1().ServiceAccounts().Lister(),
		}
	}
}

// GetServiceAccount implements serviceaccount.ServiceAccountTokenGetter.
func (o tokenOwners) GetServiceAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	if account, err := o.accounts.ServiceAccounts(namespace).Get(name); err == nil {
		return account, nil
	}

	return o.client.ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
}

// GetSecret implements serviceaccount.ServiceAccountTokenGetter.
func (o tokenOwners) GetSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	if secret, err := o.secrets.Secrets(namespace).Get(name); err == nil {
		return secret, nil
	}

	return o.client.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

// GetPod implements serviceaccount.ServiceAccountTokenGetter.
func (tokenOwners) GetPod(_ context.Context, _, name string) (*corev1.Pod, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

// GetNode implements serviceaccount.ServiceAccountTokenGetter.
func (tokenOwners) GetNode(_ context.Context, name string) (*corev1.Node, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
}
