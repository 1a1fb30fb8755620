// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// libraryInformers returns the informers of the library's own parts, such as authorization and admission. The kinds that they watch
// are read from the stores of this process, which are added to the sources before the informers are started. A watch at the
// server's own port would encode, send and decode each change, and hold all objects once more.
func libraryInformers(client kubernetes.Interface, from sources) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactoryWithOptions(client, informerResync, informers.WithTransform(withoutManagers))
	for _, kind := range []runtime.Object{
		&corev1.Namespace{}, &corev1.ResourceQuota{}, &corev1.Secret{}, &corev1.ServiceAccount{},
		&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}, &rbacv1.Role{}, &rbacv1.RoleBinding{},
		&flowcontrolv1.FlowSchema{}, &flowcontrolv1.PriorityLevelConfiguration{},
		&certificatesv1.CertificateSigningRequest{},
		&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{},
		&admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
	} {
		factory.InformerFor(kind, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(from.later(kind), kind, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		})
	}

	return factory
}

// later returns the source of a kind whose store is added before it is read.
func (s sources) later(kind runtime.Object) localSource {
	return localSource{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			source, err := s.of(kind)
			if err != nil {
				return nil, err
			}

			return source.ListWithContextFunc(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			source, err := s.of(kind)
			if err != nil {
				return nil, err
			}

			return source.WatchFuncWithContext(ctx, o)
		},
	}}
}
