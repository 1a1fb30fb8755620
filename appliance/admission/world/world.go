// SPDX-License-Identifier: Apache-2.0

// Package world gives admission plugins access to the garden: objects by name, lists, and permissions of users.
//
// A view of the garden is either cached or fresh. A cached view is cheap, but may lack recent writes. A fresh view has all
// writes that were acknowledged before; for that, a list has to wait until the watch cache has caught up with all writes to
// the store, which takes a tenth of a second and more in a busy garden. A plugin that rejects a request because of existing
// objects decides on the cached view first and checks the fresh view before it rejects; see Decide (API-ADM-7). A plugin
// that rejects because of missing objects uses the fresh view.
package world

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
)

// World is the garden as the plugins of an API server see it.
type World struct {
	// Clock is the clock for expiration dates.
	Clock clock.PassiveClock
	// Log is the logger for rejections that should be logged; they are not logged by default.
	Log logr.Logger

	source     Source
	authorizer authorizer.Authorizer
	rejections *prometheus.CounterVec
	claims     *claims
	holdings   *holdings.Holdings
	trial      Trial
}

// Access is how a world is seen.
type Access struct {
	// Clock tells the time.
	Clock clock.PassiveClock
	// Log receives what rules have refused.
	Log logr.Logger
	// Config is the client configuration for the API server itself.
	Config *clientrest.Config
	// Authorizer decides about permissions.
	Authorizer authorizer.Authorizer
	// Informers cache Namespaces and Secrets; nothing is cached without them.
	Informers informers.SharedInformerFactory
	// Groups are read from their stores, without the detour over the server's own port.
	Groups []*genericapiserver.APIGroupInfo
	// Rejections counts rejected requests; if it is nil, they are not counted.
	Rejections *prometheus.CounterVec
	// Holdings are told of each write of a shoot. Without them, rules see the shoots as they were first listed.
	Holdings *holdings.Holdings
}

// New returns the world that an API server shows. The server need not serve yet: nothing is read before a rule asks.
func New(how Access) (*World, error) {
	itself, err := newLoopback(how.Config)
	if err != nil {
		return nil, err
	}
	var source Source = itself
	if how.Informers != nil {
		source = newInformed(how.Informers, source)
	}
	w := From(source, how.Authorizer, how.Clock, how.Groups...)
	w.Log, w.trial = how.Log, itself.try
	if how.Holdings != nil {
		w.holdings = how.Holdings
	}
	if how.Rejections != nil {
		w.rejections = how.Rejections
	}
	return w, nil
}

// From returns a world that reads from a source. The resources of the given groups are read from their stores.
func From(source Source, a authorizer.Authorizer, c clock.PassiveClock, groups ...*genericapiserver.APIGroupInfo) *World {
	if len(groups) > 0 {
		source = &stores{served: byResource(groups), elsewhere: source}
	}
	return &World{
		Clock: c, source: source, authorizer: a, rejections: NewRejections(), claims: newClaims(c), holdings: holdings.New(c),
	}
}

// Keep makes h what the world knows of the holdings of shoots. Each write of a shoot must be told to it.
func (w *World) Keep(h *holdings.Holdings) { w.holdings = h }

// Holdings returns what the shoots of the garden hold, with all writes that were acknowledged before.
func (w *World) Holdings(ctx context.Context) (*holdings.Holdings, error) {
	err := w.holdings.Load(ctx, func(ctx context.Context) ([]gardencorev1beta1.Shoot, error) {
		return w.Fresh().Shoots(ctx, "", fields.Everything())
	})
	if err != nil {
		return nil, fmt.Errorf("list all shoots: %w", err)
	}
	return w.holdings, nil
}

// Source returns the source of the world, which tests can wrap.
func (w *World) Source() Source { return w.source }

// May reports whether a user may do something to a named object.
func (w *World) May(ctx context.Context, who user.Info, verb string, what Target) (bool, error) {
	decision, _, err := w.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: who, Verb: verb, APIGroup: what.Group, APIVersion: "*", Resource: what.Resource, Subresource: what.Subresource,
		Namespace: what.Namespace, Name: what.Name, ResourceRequest: true,
	})
	if err != nil {
		return false, fmt.Errorf("decide whether %q may %s %s: %w", who.GetName(), verb, what.Resource, err)
	}
	return decision == authorizer.DecisionAllow, nil
}

// Target is an object or a subresource of it, for permission checks. Version is needed only to read it.
type Target struct{ Group, Version, Resource, Subresource, Namespace, Name string }
