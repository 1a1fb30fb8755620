// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/tools/cache"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver"

	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
)

// sources has the stores of this process by the Go type of their objects, their kind and their resource.
type sources struct {
	types     map[reflect.Type]store
	kinds     map[schema.GroupVersionKind]store
	resources map[schema.GroupVersionResource]store
}

func newSources() sources {
	return sources{
		types:     map[reflect.Type]store{},
		kinds:     map[schema.GroupVersionKind]store{},
		resources: map[schema.GroupVersionResource]store{},
	}
}

// store is one of them.
type store struct {
	rest.Storage

	// kind is what the objects are in the version that is served.
	kind schema.GroupVersionKind
	// serve makes what the clients of a version get out of what is stored; nil if that is the same.
	serve func(runtime.Object) (runtime.Object, error)
}

// add adds the stores of a group, whose objects are stored in the Go type that is served.
func (s sources) add(group *genericapiserver.APIGroupInfo) {
	name := group.PrioritizedVersions[0].Group
	for version, storages := range group.VersionedResourcesStorageMap {
		for resource, storage := range storages {
			if strings.Contains(resource, "/") {
				continue
			}
			served := schema.GroupVersion{Group: name, Version: version}
			s.put(served.WithResource(resource), storage.New(), group.Scheme, store{Storage: storage})
		}
	}
}

// addConverted adds the stores of one of Kubernetes' own groups: its objects are stored in the internal version. A conversion
// of them is a new object that shares its contents with the original, so that they are in memory once.
func (s sources) addConverted(group string, info genericapiserver.APIGroupInfo) {
	for version, storages := range info.VersionedResourcesStorageMap {
		served := schema.GroupVersion{Group: group, Version: version}
		serve := func(object runtime.Object) (runtime.Object, error) {
			return info.Scheme.UnsafeConvertToVersion(object, served)
		}
		for resource, storage := range storages {
			if strings.Contains(resource, "/") {
				continue
			}
			if external, err := serve(storage.New()); err == nil {
				s.put(served.WithResource(resource), external, info.Scheme, store{Storage: storage, serve: serve})
			}
		}
	}
}

// put adds the store of a resource, whose objects are served in the Go type of object.
func (s sources) put(resource schema.GroupVersionResource, object runtime.Object, kinds *runtime.Scheme, of store) {
	all, _, err := kinds.ObjectKinds(object)
	if err != nil {
		return
	}
	of.kind = resource.GroupVersion().WithKind(all[0].Kind)
	s.types[reflect.TypeOf(object)] = of
	s.kinds[of.kind] = of
	s.resources[resource] = of
}

// recorded is one of Kubernetes' own groups whose stores are added to the sources when they are built.
type recorded struct {
	controlplane.RESTStorageProvider

	sources sources
}

// NewRESTStorage implements controlplane.RESTStorageProvider.
func (r recorded) NewRESTStorage(
	resources serverstorage.APIResourceConfigSource, options generic.RESTOptionsGetter,
) (genericapiserver.APIGroupInfo, error) {
	info, err := r.RESTStorageProvider.NewRESTStorage(resources, options)
	if err == nil {
		r.sources.addConverted(r.GroupName(), info)
	}

	return info, err //nolint:wrapcheck // The caller is the library.
}

// recordedWithHook is a group with a hook, which the library looks for.
type recordedWithHook struct {
	recorded
	genericapiserver.PostStartHookProvider
}

// record adds the stores of groups to the sources when they are built.
func (s sources) record(groups []controlplane.RESTStorageProvider) []controlplane.RESTStorageProvider {
	all := make([]controlplane.RESTStorageProvider, 0, len(groups))
	for _, group := range groups {
		r := recorded{RESTStorageProvider: group, sources: s}
		if hook, ok := group.(genericapiserver.PostStartHookProvider); ok {
			all = append(all, recordedWithHook{recorded: r, PostStartHookProvider: hook})
		} else {
			all = append(all, r)
		}
	}

	return all
}

// Source returns a source that lists and watches all objects of a kind within the process: nothing is sent, encoded or
// authorized. It is nil for a kind that has no store in this process. Objects may share data with others and must not be
// changed.
func (s *Server) Source(kind runtime.Object) cache.ListerWatcher {
	source, err := s.sources.of(kind)
	if err != nil {
		return nil
	}

	return source
}

// of returns the source of all objects of a kind. Without a store of the kind, the error wraps feed.ErrNoSource.
func (s sources) of(kind runtime.Object) (localSource, error) {
	from, ok := s.types[reflect.TypeOf(kind)]
	if !ok {
		return localSource{}, fmt.Errorf("%T: %w", kind, feed.ErrNoSource)
	}
	shared, err := feed.FromStorage(from.Storage)
	if err != nil {
		return localSource{}, fmt.Errorf("read objects within the process: %w", err)
	}

	return localSource{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := shared.ListWithContextFunc(ctx, o)
			if err != nil || from.serve == nil {
				return list, err
			}

			return from.serve(list)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := shared.WatchFuncWithContext(ctx, o)
			if err != nil {
				return nil, err
			}

			return watch.Filter(events, from.event), nil
		},
	}}, nil
}

// event copies an object that is shared by all its watches, and converts it.
func (s store) event(event watch.Event) (watch.Event, bool) {
	if shared, ok := event.Object.(runtime.CacheableObject); ok {
		event.Object = shared.GetObject()
	}
	if s.serve == nil || event.Type == watch.Error {
		return event, true
	}
	object, err := s.serve(event.Object)
	if err != nil {
		return errorEvent(err), true
	}
	event.Object = object

	return event, true
}

// errorEvent ends a watch: its client lists again.
func errorEvent(err error) watch.Event {
	return watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(err).ErrStatus}
}

// localSource is read by a list followed by a watch, which is cheaper than a watch that begins with all objects.
type localSource struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported tells reflectors that lists by watch are not supported.
func (localSource) IsWatchListSemanticsUnSupported() bool { return true }
