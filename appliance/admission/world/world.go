// SPDX-License-Identifier: Apache-2.0

// Package world is how admission rules see the garden: objects by name, lists, and who may do what.
//
// A view of the garden is either cached or fresh. A cached one costs little; it may lack what was written a moment ago. A
// fresh one holds every write that was answered before; to be so, a list has to wait until the watch cache has caught up
// with all writes to the store, which takes a tenth of a second and more in a busy garden. A rule that refuses because
// of what it sees decides on the cached view first and looks again before it refuses (API-ADM-7): see Decide. A rule that
// refuses because of what it does not see takes the fresh view.
package world

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// World is the garden as an API server lets its rules see it.
type World struct {
	// Clock tells the time for expiration dates.
	Clock clock.PassiveClock
	// Log receives what rules have refused, where that is to be followed up; nowhere by default.
	Log logr.Logger

	source     Source
	authorizer authorizer.Authorizer
	rejections *prometheus.CounterVec
	claims     *claims
}

// Access is how a world is seen.
type Access struct {
	// Clock tells the time.
	Clock clock.PassiveClock
	// Log receives what rules have refused.
	Log logr.Logger
	// Config is for the port of the API server itself.
	Config *clientrest.Config
	// Authorizer decides who may do what.
	Authorizer authorizer.Authorizer
	// Informers keep Namespaces and Secrets at hand; nothing is kept without them.
	Informers informers.SharedInformerFactory
	// Groups are read from their stores, without the detour over the server's own port.
	Groups []*genericapiserver.APIGroupInfo
	// Rejections counts the requests that were refused; nil leaves them to a counter that nobody reads.
	Rejections *prometheus.CounterVec
}

// New returns the world that an API server shows. The server need not serve yet: nothing is read before a rule asks.
func New(how Access) (*World, error) {
	var source Source
	source, err := newLoopback(how.Config)
	if err != nil {
		return nil, err
	}
	if how.Informers != nil {
		source = newInformed(how.Informers, source)
	}
	w := From(source, how.Authorizer, how.Clock, how.Groups...)
	w.Log = how.Log
	if how.Rejections != nil {
		w.rejections = how.Rejections
	}
	return w, nil
}

// From returns the world that a source shows. The resources of the given groups are read from their stores.
func From(source Source, a authorizer.Authorizer, c clock.PassiveClock, groups ...*genericapiserver.APIGroupInfo) *World {
	if len(groups) > 0 {
		source = &stores{served: byResource(groups), elsewhere: source}
	}
	return &World{Clock: c, source: source, authorizer: a, rejections: NewRejections(), claims: newClaims(c)}
}

// Source is what the world is seen through. A test shows a rule another world by a source around it.
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

// Target is an object, or a subresource of it, that somebody wants to act on. Version is needed to read it only.
type Target struct{ Group, Version, Resource, Subresource, Namespace, Name string }
