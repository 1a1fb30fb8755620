// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	customopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/apiserver/pkg/util/webhook"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// gardenGroupPriority is the priority of the garden's groups, which is after those of Kubernetes in discovery and before custom
// resources.
const gardenGroupPriority = 10000

// chain are the configurations of the four servers.
type chain struct {
	kube       controlplane.CompletedConfig
	garden     *gardenServer
	custom     apiextensionsapiserver.CompletedConfig
	aggregator aggregatorapiserver.CompletedConfig
	revoked    *revoked.Set
}

// configureChain creates all configurations before any is completed, because each starts from a copy of that of the kube server.
func (c *completed) configureChain() (*chain, error) {
	parts, err := c.kubeConfig()
	if err != nil {
		return nil, err
	}
	clipChecks(parts.config.Generic)
	garden, err := c.gardenConfig(parts)
	if err != nil {
		return nil, err
	}
	custom, err := c.customConfig(parts)
	if err != nil {
		return nil, err
	}
	aggregator, err := c.aggregatorConfig(parts)
	if err != nil {
		return nil, err
	}

	return &chain{
		kube:       parts.config.Complete(),
		garden:     garden,
		custom:     custom.Complete(),
		aggregator: aggregator.Complete(),
		revoked:    c.revoked,
	}, nil
}

// clipChecks takes away the spare room behind the lists of health checks. Each server of the chain starts from a copy of them and adds
// its own checks, and in a common room the checks of one server would replace those of another.
func clipChecks(of *genericapiserver.Config) {
	of.HealthzChecks = slices.Clip(of.HealthzChecks)
	of.LivezChecks = slices.Clip(of.LivezChecks)
	of.ReadyzChecks = slices.Clip(of.ReadyzChecks)
}

func (c *completed) customConfig(parts *kubeParts) (*apiextensionsapiserver.Config, error) {
	generic := parts.config.Generic
	authentication := webhook.NewDefaultAuthenticationInfoResolverWrapper(
		parts.config.ProxyTransport, generic.EgressSelector, generic.LoopbackClientConfig, generic.TracerProvider)
	config, err := controlplane.CreateAPIExtensionsConfig(*generic, parts.config.VersionedInformers, parts.initializers,
		c.library, 1, parts.resolver, authentication)
	if err != nil {
		return nil, fmt.Errorf("configure server of custom resources: %w", err)
	}
	config.GenericConfig.RESTOptionsGetter = fresh.Getter(config.GenericConfig.RESTOptionsGetter, c.logs())
	// Definitions of custom resources are added to these documents.
	config.GenericConfig.SkipOpenAPIInstallation = false
	useDefinitions(&config.GenericConfig.Config, customopenapi.GetOpenAPIDefinitions)
	config.ExtraConfig.CRDRESTOptionsGetter = fresh.Getter(config.ExtraConfig.CRDRESTOptionsGetter, c.logs())

	return config, nil
}

func (c *completed) aggregatorConfig(parts *kubeParts) (*aggregatorapiserver.Config, error) {
	config, err := controlplane.CreateAggregatorConfig(*parts.config.Generic, c.library, parts.config.VersionedInformers,
		parts.resolver, parts.config.ProxyTransport, parts.config.PeerProxy, parts.initializers)
	if err != nil {
		return nil, fmt.Errorf("configure aggregator: %w", err)
	}
	config.GenericConfig.RESTOptionsGetter = fresh.Getter(config.GenericConfig.RESTOptionsGetter, c.logs())
	useDefinitions(&config.GenericConfig.Config, aggregatoropenapi.GetOpenAPIDefinitions)
	mounts, err := c.mounts()
	if err != nil {
		return nil, err
	}
	config.GenericConfig.BuildHandlerChainFunc = c.handlerChain(mounts)
	// Aggregated API servers would need Services and Endpoints, which a garden does not serve.
	config.ExtraConfig.DisableRemoteAvailableConditionController = true

	return config, nil
}

// build creates the servers, the last one of the chain first.
func (ch *chain) build() (*aggregatorapiserver.APIAggregator, error) {
	nothing := genericapiserver.NewEmptyDelegateWithCustomHandler(
		notfoundhandler.New(ch.kube.Generic.Serializer, genericapifilters.NoMuxAndDiscoveryIncompleteKey))
	custom, err := ch.custom.New(nothing)
	if err != nil {
		return nil, fmt.Errorf("build server of custom resources: %w", err)
	}
	garden, err := ch.garden.new(custom.GenericAPIServer)
	if err != nil {
		return nil, err
	}
	kube, err := newKube(ch.kube, ch.garden.sources, ch.revoked, garden)
	if err != nil {
		return nil, err
	}
	served := ch.custom.GenericConfig.MergedResourceConfig.ResourceEnabled(
		apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	aggregator, err := controlplane.CreateAggregatorServer(ch.aggregator, kube.GenericAPIServer,
		custom.Informers.Apiextensions().V1().CustomResourceDefinitions(), served, priorities())
	if err != nil {
		return nil, fmt.Errorf("build aggregator: %w", err)
	}

	return aggregator, nil
}

// priorities adds the garden's groups to those that the aggregator routes itself.
func priorities() map[schema.GroupVersion]controlplane.APIServicePriority {
	all := controlplane.DefaultGenericAPIServicePriorities()
	for g, versions := range scheme.ServedGroups() {
		for v, version := range versions {
			all[version] = controlplane.APIServicePriority{
				Group:   int32(gardenGroupPriority - g),
				Version: int32(len(versions) - v), //nolint:gosec // A handful of versions.
			}
		}
	}

	return all
}
