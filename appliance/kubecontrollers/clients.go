// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"fmt"
	"net/http"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// clients are the clients and caches that all loops share.
type clients struct {
	kube     kubernetes.Interface
	metadata metadata.Interface
	// discovery is for the loops that look for new kinds; mapper has its own, because it resets its cache.
	discovery discovery.DiscoveryInterface
	mapper    meta.ResettableRESTMapper

	informers         informers.SharedInformerFactory
	metadataInformers metadatainformer.SharedInformerFactory
	// both returns the typed cache of a kind if there is one, or else a cache of its metadata.
	both informerfactory.InformerFactory
	// started is closed when the caches are started.
	started chan struct{}
}

func newClients(c Config) (*clients, error) {
	config := rest.CopyConfig(c.Loopback)
	config.ContentType = runtime.ContentTypeProtobuf
	config.UserAgent = "terrarium-kube-controllers"
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}

	return c.clientsFor(config, transport)
}

func (c Config) clientsFor(config *rest.Config, transport *http.Client) (*clients, error) {
	kube, err := kubernetes.NewForConfigAndClient(config, transport)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	metadataClient, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), transport)
	if err != nil {
		return nil, fmt.Errorf("make metadata client: %w", err)
	}
	mapping, err := discovery.NewDiscoveryClientForConfigAndClient(config, transport)
	if err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}

	typed := informers.NewSharedInformerFactoryWithOptions(kube, c.Resync, informers.WithTransform(trim))
	c.useSource(typed)
	untyped := metadatainformer.NewSharedInformerFactoryWithOptions(metadataReader{Interface: metadataClient, source: c.Metadata}, c.Resync,
		metadatainformer.WithTransform(trim))

	return &clients{
		kube:              kube,
		metadata:          metadataClient,
		discovery:         kube.Discovery(),
		mapper:            restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(mapping)),
		informers:         typed,
		metadataInformers: untyped,
		both:              c.both(typed, untyped),
		started:           make(chan struct{}),
	}, nil
}

// local are the kinds whose caches read within the process: those that may have many objects, or that are needed first.
func local() map[schema.GroupVersionResource]runtime.Object {
	core := corev1.SchemeGroupVersion.WithResource
	rbac := rbacv1.SchemeGroupVersion.WithResource

	return map[schema.GroupVersionResource]runtime.Object{
		core("configmaps"): &corev1.ConfigMap{}, core("secrets"): &corev1.Secret{}, core("namespaces"): &corev1.Namespace{},
		core("serviceaccounts"): &corev1.ServiceAccount{}, core("resourcequotas"): &corev1.ResourceQuota{},
		coordinationv1.SchemeGroupVersion.WithResource("leases"):                     &coordinationv1.Lease{},
		certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests"): &certificatesv1.CertificateSigningRequest{},
		rbac("clusterroles"): &rbacv1.ClusterRole{}, rbac("clusterrolebindings"): &rbacv1.ClusterRoleBinding{},
		rbac("roles"): &rbacv1.Role{}, rbac("rolebindings"): &rbacv1.RoleBinding{},
	}
}

// useSource lets the caches of local kinds read within the process.
func (c Config) useSource(typed informers.SharedInformerFactory) {
	if c.Source == nil {
		return
	}
	for _, kind := range local() {
		if source := c.Source(kind); source != nil {
			typed.InformerFor(kind, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				return cache.NewSharedIndexInformer(source, kind, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			})
		}
	}
}

// trim removes the managed fields, which no loop reads and which are more than half of the size of many objects.
func trim(obj any) (any, error) {
	if o, err := meta.Accessor(obj); err == nil && len(o.GetManagedFields()) > 0 {
		o.SetManagedFields(nil)
	}

	return obj, nil
}
