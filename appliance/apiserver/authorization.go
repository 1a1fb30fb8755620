// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graphpage"
	"github.com/terrarium-garden/terrarium/appliance/authorization/metrics"
	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedauthorizer"
	"github.com/terrarium-garden/terrarium/appliance/authorization/selfhosted"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootauthorizer"
)

// seedsCheck is the check of /readyz that the graph of what belongs to which seed is complete.
const seedsCheck = "seed-authorizer"

var errGraphEmpty = errors.New("what belongs to which seed is not known yet")

// seedAuthorization authorizes gardenlets, of seeds and of self-hosted shoots. It runs before RBAC.
type seedAuthorization struct {
	graph      *graph.Graph
	feed       *feed.Feed
	authorizer *seedauthorizer.Authorizer
	shoots     *shootauthorizer.Authorizer
	informed   []cache.InformerSynced
}

func newSeedAuthorization(log logr.Logger, clk clock.Clock) (*seedAuthorization, error) {
	recorded, err := metrics.Register(legacyregistry.Registerer())
	if err != nil {
		return nil, fmt.Errorf("authorize seeds: %w", err)
	}
	g, shoots := graph.New(), selfhosted.New()
	unrecorded := func(graph.Kind, time.Duration) {} // The histograms are about searches for seeds.

	return &seedAuthorization{
		graph:      g,
		feed:       feed.New(feed.Config{Graph: g, Shoots: shoots, Clock: clk, Updated: recorded.Updated}),
		authorizer: seedauthorizer.New(rules.Config{Log: log, Graph: g, Clock: clk, Searched: recorded.Searched}),
		shoots:     shootauthorizer.New(shoots, rules.Config{Log: log, Clock: clk, Searched: unrecorded}),
	}, nil
}

// apply adds the given authorizer, those for seeds and shoots before the existing ones and that for missing objects after them, and watches the objects that
// are not of the garden's kinds.
func (s *seedAuthorization) apply(
	into *genericapiserver.Config, known informers.SharedInformerFactory, first authorizer.Authorizer,
) error {
	all := union.New(first, s.authorizer, s.shoots, into.Authorization.Authorizer)
	into.Authorization.Authorizer = union.New(all, &seedauthorizer.Absent{Authorizer: s.authorizer, Others: all, Ready: s.synced})
	into.AddReadyzChecks(healthz.NamedCheck(seedsCheck, func(*http.Request) error {
		if !s.synced() {
			return errGraphEmpty
		}

		return nil
	}))
	for kind, informer := range map[graph.Kind]cache.SharedIndexInformer{
		graph.CertificateSigningRequest: known.Certificates().V1().CertificateSigningRequests().Informer(),
		graph.ServiceAccount:            known.Core().V1().ServiceAccounts().Informer(),
	} {
		registration, err := informer.AddEventHandler(s.feed.Handler(kind))
		if err != nil {
			return fmt.Errorf("watch objects of kind %s: %w", kind, err)
		}
		s.informed = append(s.informed, registration.HasSynced)
	}

	return nil
}

func (s *seedAuthorization) synced() bool {
	for _, synced := range s.informed {
		if !synced() {
			return false
		}
	}

	return s.feed.Synced()
}

// watch adds the kinds of the garden as sources of the graph.
func (s *seedAuthorization) watch(groups []*genericapiserver.APIGroupInfo) error {
	kinds := feed.Kinds()
	for _, group := range groups {
		name := group.PrioritizedVersions[0].Group
		for resource, kind := range kinds[name] {
			objects, err := source(group, resource)
			if err != nil {
				return fmt.Errorf("watch %s of group %q: %w", resource, name, err)
			}
			s.feed.Watch(kind, objects)
		}
	}

	return nil
}

func source(group *genericapiserver.APIGroupInfo, resource string) (*cache.ListWatch, error) {
	for _, storages := range group.VersionedResourcesStorageMap {
		if storage, ok := storages[resource]; ok {
			return feed.FromStorage(storage)
		}
	}

	return nil, feed.ErrNoSource
}

// page shows the graph.
func (s *seedAuthorization) page() http.Handler { return graphpage.New(s.graph) }
