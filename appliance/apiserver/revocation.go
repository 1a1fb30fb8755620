// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/apis/revocation"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
)

// revocations builds the office that shuts out seeds. Callers that must know which seeds are shut out wait for it, the readiness of
// the server does not: the records come after all ConfigMaps of the garden were read.
func (c *completed) revocations(generic *genericapiserver.Config) (*revoked.Office, error) {
	client, err := kubernetes.NewForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("create client for revocations: %w", err)
	}
	objects, err := metadata.NewForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("create client for revocations: %w", err)
	}

	return &revoked.Office{Set: c.revoked, Client: client, Metadata: objects, Graph: c.seeds.graph, Clock: c.Clock}, nil
}

// watchRevocations reads the records until ctx ends.
func watchRevocations(ctx context.Context, client kubernetes.Interface, set *revoked.Set) {
	records := client.CoreV1().ConfigMaps(revocation.Namespace)
	labelled := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector = revocation.Label

		return o
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return records.List(ctx, labelled(o))
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return records.Watch(ctx, labelled(o))
			},
		},
		ObjectType: &corev1.ConfigMap{},
		Handler:    set.Handler(),
	})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		informer.RunWithContext(ctx)
	}()
	if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		set.Synced()
	}
	<-stopped
}
