// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// open opens the store of a kind as the API server does, with a client of the source. The API server has no place for a client of one's
// own: its factory connects to a server.
func (s Source) open(
	config *storagebackend.ConfigForResource, prefix string, one, many func() runtime.Object,
) (storage.Interface, factory.DestroyFunc, error) {
	// What objects that cannot be decoded need is made by the factory only.
	if s.Client == nil || utilfeature.DefaultFeatureGate.Enabled(features.AllowUnsafeMalformedObjectDeletion) {
		return generic.NewRawStorage(config, one, many, prefix) //nolint:wrapcheck // The caller is the library.
	}
	client := s.Client()
	// New asks the client below, which knows no endpoint.
	feature.DefaultFeatureSupportChecker.CheckClient(client.Ctx(), client, storage.RequestWatchProgress)
	client.KV = etcd3.NewETCDLatencyTracker(client.KV)
	transformer := config.Transformer
	if transformer == nil {
		transformer = identity.NewEncryptCheckTransformer()
	}
	versioner := storage.APIObjectVersioner{}
	// The log compacts itself, so there is no compactor.
	store, err := etcd3.New(client.Client, nil, config.Codec, one, many, config.Prefix, prefix, config.GroupResource, transformer,
		config.LeaseManagerConfig, etcd3.NewDefaultDecoder(config.Codec, versioner), versioner)
	if err != nil {
		client.Close() //nolint:errcheck,gosec // It has no connection.

		return nil, func() {}, fmt.Errorf("open store of %s: %w", config.GroupResource, err)
	}

	return store, sync.OnceFunc(func() {
		store.Close()
		client.Close() //nolint:errcheck,gosec // It has no connection.
	}), nil
}
