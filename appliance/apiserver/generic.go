// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"time"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/kubeapiserver"

	"github.com/terrarium-garden/terrarium/storage/registry/appliance/snapshot"
)

// informerResync is how often informers of the library hand all objects to their handlers again.
const informerResync = 10 * time.Minute

// genericParts are the configuration that all servers of the chain share, and what it is made with.
type genericParts struct {
	config    *genericapiserver.Config
	informers informers.SharedInformerFactory
	storage   *serverstorage.DefaultStorageFactory
	client    kubernetes.Interface
	// sources gets the stores of all kinds of this process, before the informers are started.
	sources sources
}

// genericConfig applies the options of the library to a new configuration.
//
// The library has a function for this too (BuildGenericConfig). It makes two RSA keys for the loopback certificate, one after the
// other, which was a quarter of all processor time of a start. So the steps are here, with a certificate of our own.
func (c *completed) genericConfig() (*genericParts, error) {
	config := genericapiserver.NewConfig(legacyscheme.Codecs)
	config.MergedResourceConfig = servedVersions()
	config.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis")
	config.LongRunningFunc = filters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"), sets.NewString("attach", "exec", "proxy", "log", "portforward", snapshot.Downloading))
	if err := c.library.GenericServerRunOptions.ApplyTo(config); err != nil {
		return nil, fmt.Errorf("apply options of the server: %w", err)
	}
	if err := c.applyServing(config); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("create loopback client: %w", err)
	}
	stores := newSources()
	parts := &genericParts{config: config, client: client, sources: stores, informers: libraryInformers(client, stores)}
	if err := c.library.Features.ApplyTo(config, client, parts.informers); err != nil {
		return nil, fmt.Errorf("apply options of features: %w", err)
	}
	c.countWatches(config)
	if err := c.library.APIEnablement.ApplyTo(config, config.MergedResourceConfig, legacyscheme.Scheme); err != nil {
		return nil, fmt.Errorf("apply options of served versions: %w", err)
	}
	describe(config)
	if err := c.applyStores(parts); err != nil {
		return nil, err
	}

	return parts, c.applyAccess(parts)
}

// withoutManagers drops from an object of an informer who has set which field, which is much and which nobody here reads.
func withoutManagers(object any) (any, error) {
	if m, err := meta.Accessor(object); err == nil && m.GetManagedFields() != nil {
		m.SetManagedFields(nil)
	}

	return object, nil
}

// describe sets what the OpenAPI documents describe.
func describe(config *genericapiserver.Config) {
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(gardenDefinitions)
	namer := openapinamer.NewDefinitionNamer([]*runtime.Scheme{
		legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme,
	}...)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "Kubernetes", "Kubernetes"
}

// applyStores connects the configuration to the datastores.
func (c *completed) applyStores(parts *genericParts) error {
	config := parts.config
	c.library.Etcd.StorageConfig.Transport.TracerProvider = config.TracerProvider
	encodings := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(config.EffectiveVersion)
	encodings.APIResourceConfig = config.MergedResourceConfig
	encodings.DefaultResourceEncoding.SetEffectiveVersion(config.EffectiveVersion)
	storage, err := encodings.Complete(c.library.Etcd).New()
	if err != nil {
		return fmt.Errorf("configure datastores: %w", err)
	}
	storage.StorageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	if err := c.applyEncryption(config); err != nil {
		return err
	}
	if err := c.library.Etcd.ApplyWithStorageFactoryTo(storage, config); err != nil {
		return fmt.Errorf("apply options of datastores: %w", err)
	}
	parts.storage = storage

	return nil
}

// applyAccess sets who clients are, what they may do, and what of it is recorded.
func (c *completed) applyAccess(parts *genericParts) error {
	config := parts.config
	ctx := untilDrained(config)
	c.library.Authentication.ServiceAccounts.OptionalTokenGetter = tokenObjects(parts.client)
	if err := c.library.Authentication.ApplyTo(ctx, &config.Authentication, config.SecureServing, config.EgressSelector,
		config.OpenAPIConfig, config.OpenAPIV3Config, parts.client, parts.informers, config.APIServerID); err != nil {
		return fmt.Errorf("apply options of authentication: %w", err)
	}
	var err error
	config.Authorization.Authorizer, config.RuleResolver, _, err = controlplane.BuildAuthorizer(
		ctx, c.library, config.EgressSelector, config.APIServerID, parts.informers)
	if err != nil {
		return fmt.Errorf("apply options of authorization: %w", err)
	}
	if err := c.library.Audit.ApplyTo(config); err != nil {
		return fmt.Errorf("apply options of the audit log: %w", err)
	}

	return nil
}

// untilDrained returns a context that ends when the server has answered its last request.
func untilDrained(config *genericapiserver.Config) context.Context {
	return wait.ContextForChannel(config.DrainedNotify())
}
