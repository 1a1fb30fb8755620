// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/kubernetes"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedlists"
	"github.com/terrarium-garden/terrarium/storage/registry"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shoot"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/observe"
)

// decodedBytes is the size of the cache of decoded objects: enough for the writes of a second or two.
const decodedBytes = 4 << 20

// gardenKinds are the kinds of the garden and their stores.
type gardenKinds struct {
	options kind.Options
	groups  []*genericapiserver.APIGroupInfo
	// sources are the stores of all kinds of this process.
	sources sources
	// recorder adds to timelines what the kinds' stores write.
	recorder *timeline.Recorder
	// holdings know what the shoots that the stores write hold.
	holdings *holdings.Holdings
}

// gardenKinds builds the stores and adds them to the sources, beside those of Kubernetes' kinds and with the same authorization.
func (c *completed) gardenKinds(shared genericapiserver.Config, stores sources) (*gardenKinds, error) {
	kinds := runtime.NewScheme()
	if err := scheme.AddServed(kinds); err != nil {
		return nil, fmt.Errorf("create scheme of the garden: %w", err)
	}
	codecs := serializer.NewCodecFactory(kinds)
	if err := c.applyGardenStorage(&shared, codecs); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(shared.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("create client for the garden server: %w", err)
	}
	recorder := timeline.NewRecorder(c.Timeline, c.Clock)
	held := holdings.New(c.Clock)
	getter := observe.Getter(shared.RESTOptionsGetter, recorder.Changed, timeline.Resources()...)
	options := kind.Options{
		RESTOptionsGetter: observe.Getter(getter, held.Changed, gardencorev1beta1.Resource("shoots")),
		Scheme:            kinds,
		Codecs:            codecs,
		ParameterCodec:    runtime.NewParameterCodec(kinds),
		Clock:             c.Clock,
	}
	groups, err := registry.Groups(options, registry.Settings{
		Shoots: shoot.Settings{
			Authorizer: shared.Authorization.Authorizer,
			ConfigMap: func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
				return client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			},
			MaxKubeconfigLifetime:       c.MaxKubeconfigLifetime,
			ShorterKubeconfigLifetime:   c.ShorterKubeconfigLifetime,
			CredentialsRotationInterval: c.CredentialsRotationInterval,
		},
		Tokens:   c.tokenSigner(),
		Timeline: c.timelineSettings(recorder, shared.Authorization.Authorizer, client),

		Snapshots: c.Snapshots,
	})
	if err != nil {
		return nil, fmt.Errorf("build stores of the garden: %w", err)
	}

	for _, group := range groups {
		stores.add(group)
	}

	return &gardenKinds{options: options, groups: groups, sources: stores, recorder: recorder, holdings: held}, nil
}

// gardenServer is a configured server of the garden's groups.
type gardenServer struct {
	*gardenKinds

	generic genericapiserver.CompletedConfig
	seeds   *seedAuthorization
}

// gardenConfig derives the garden server's configuration from that of the kube server: with another scheme, encoding and
// admission chain, and the same store, authentication and authorization.
func (c *completed) gardenConfig(parts *kubeParts) (*gardenServer, error) {
	generic := *parts.config.Generic
	generic.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	generic.Serializer = newRemembering(parts.kinds.options.Codecs, int(c.ObjectBytes))
	generic.MergedResourceConfig = serverstorage.NewResourceConfig()
	generic.MergedResourceConfig.EnableVersions(slices.Concat(scheme.ServedGroups()...)...)
	generic.RESTOptionsGetter = parts.kinds.options.RESTOptionsGetter
	if err := applyGardenOpenAPI(&generic); err != nil {
		return nil, err
	}
	if err := c.applyGardenAdmission(&generic, parts); err != nil {
		return nil, err
	}

	return &gardenServer{gardenKinds: parts.kinds, generic: generic.Complete(parts.config.VersionedInformers), seeds: c.seeds}, nil
}

// applyGardenStorage configures the storage of garden kinds, in the same store as the kinds of Kubernetes and encrypted with the
// same keys.
func (c *completed) applyGardenStorage(into *genericapiserver.Config, codecs serializer.CodecFactory) error {
	versions := slices.Concat(scheme.ServedGroups()...)
	codec, err := newStoring(codecs, versions)
	if err != nil {
		return fmt.Errorf("configure store of the garden: %w", err)
	}
	etcd := *c.library.Etcd
	etcd.DefaultStorageMediaType = runtime.ContentTypeJSON
	etcd.EtcdServersOverrides = nil
	etcd.SkipHealthEndpoints = true
	etcd.StorageConfig.Codec = bytecache.Codec(codec, decodedBytes)
	etcd.StorageConfig.EncodeVersioner = schema.GroupVersions(versions)
	into.RESTOptionsGetter = nil
	if err := etcd.ApplyTo(into); err != nil {
		return fmt.Errorf("configure store of the garden: %w", err)
	}
	into.RESTOptionsGetter = c.encryption.stores.Getter(fresh.Getter(into.RESTOptionsGetter, c.logs()))

	return nil
}

// new builds the server of the garden's groups.
func (g *gardenServer) new(next genericapiserver.DelegationTarget) (*genericapiserver.GenericAPIServer, error) {
	server, err := g.generic.New("garden", next)
	if err != nil {
		return nil, fmt.Errorf("build garden server: %w", err)
	}
	if err := g.seeds.watch(g.groups); err != nil {
		return nil, fmt.Errorf("build garden server: %w", err)
	}
	if err := seedlists.Restrict(g.groups, g.seeds.graph.BelongsTo); err != nil {
		return nil, fmt.Errorf("build garden server: %w", err)
	}
	for _, group := range g.groups {
		group.NegotiatedSerializer = serializerFor(g.generic.Serializer, g.options.Scheme, group.PrioritizedVersions[0])
	}
	if err := g.installGroups(server); err != nil {
		return nil, fmt.Errorf("install groups of the garden: %w", err)
	}
	serveOpenAPI(server, g.generic.Config)

	return server, nil
}
