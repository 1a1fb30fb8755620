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

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// World is the garden as an API server lets its rules see it.
type World struct {
	// Clock tells the time for expiration dates.
	Clock clock.PassiveClock

	source     Source
	authorizer authorizer.Authorizer
}

// New returns the world that a loopback client reaches.
func New(config *clientrest.Config, a authorizer.Authorizer, c clock.PassiveClock) (*World, error) {
	source, err := newLoopback(config)
	if err != nil {
		return nil, err
	}
	return From(source, a, c), nil
}

// From returns the world that a source shows.
func From(source Source, a authorizer.Authorizer, c clock.PassiveClock) *World {
	return &World{Clock: c, source: source, authorizer: a}
}

// Attach makes the world read the resources of core.gardener.cloud from their stores, without the detour over the
// server's own port. It must be called before the first request is served.
func (w *World) Attach(served map[string]rest.Storage) {
	w.source = &stores{served: served, elsewhere: w.source}
}

// May tells whether a user may do something to a named object.
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
