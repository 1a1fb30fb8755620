// SPDX-License-Identifier: Apache-2.0

// Package rules decides about requests of clients that may access what belongs to one object, such as the gardenlet of a seed:
// by a table of rules and a graph of what belongs to what.
package rules

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Client is a client that may access what belongs to an object.
type Client interface {
	// Target is this object.
	Target() graph.Vertex
	// Who says in reasons who it is, such as `seed "north"`.
	Who() string
}

// Config is what an engine needs. All fields but Log are required.
type Config struct {
	// Log takes a line at level 1 for each request that no rule is about (GAC-SAR-19).
	Log logr.Logger
	// Graph is the graph of what belongs to which object.
	Graph *graph.Graph
	// Clock is used to measure searches and to wait.
	Clock clock.Clock
	// Searched is called with the duration of each search for a path (GAC-GR-12).
	Searched func(from graph.Kind, took time.Duration)
}

// Rule says what clients of a sort may do with objects of one resource.
type Rule[C Client] struct {
	// Kind is the kind of the resource in the graph.
	Kind graph.Kind
	// Always are verbs for all objects, Path those for objects that belong to the target.
	Always, Path Verbs
	// Parts are the subresources to which the verbs for objects that belong to the target apply, in addition to the object itself.
	Parts []string
	// AlwaysPart is the subresource to which the verbs for all objects apply, in addition to the object itself.
	AlwaysPart string
	// Fields are fields that a client has to select, all of them, to list and to watch. Label is a label with value "true" that it
	// may select instead. One of them may be nil; without both, it can list and watch only one object by its name.
	Fields func(client C) []Field
	Label  func(client C) string
	// Limit takes verbs away from some clients, if it is not nil.
	Limit func(client C) Verbs
	// Check is called first, for rules that are not about verbs and paths alone. If it returns only, nothing else is checked.
	Check func(ctx context.Context, r *Request[C]) (allowed, only bool)
}

// Field is a field with its value.
type Field struct{ Name, Value string }

// Engine decides by rules.
type Engine[C Client] struct {
	config Config
	rules  map[schema.GroupResource]Rule[C]
}

// New returns an engine with a rule for each resource that clients may use.
func New[C Client](c Config, all map[schema.GroupResource]Rule[C]) *Engine[C] {
	return &Engine[C]{config: c, rules: all}
}

// Rule returns the rule for a resource.
func (e *Engine[C]) Rule(resource schema.GroupResource) (Rule[C], bool) {
	rule, ok := e.rules[resource]

	return rule, ok
}

// Authorize decides about a request of a client. It never denies: later authorizers may allow more.
func (e *Engine[C]) Authorize(ctx context.Context, client C, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if !a.IsResourceRequest() {
		e.config.Log.V(1).Info("No opinion on a path", "client", client.Who(), "user", a.GetUser().GetName(), "verb", a.GetVerb(), "path", a.GetPath())

		return authorizer.DecisionNoOpinion, "", nil
	}
	rule, ok := e.rules[schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}]
	if !ok {
		e.config.Log.V(1).Info("No opinion on a resource", "client", client.Who(), "user", a.GetUser().GetName(), "verb", a.GetVerb(),
			"group", a.GetAPIGroup(), "resource", a.GetResource(), "namespace", a.GetNamespace(), "name", a.GetName())

		return authorizer.DecisionNoOpinion, fmt.Sprintf("this is none of the business of %s", client.Who()), nil
	}
	r := &Request[C]{
		Client: client, Verb: VerbOf(a.GetVerb()), Namespace: a.GetNamespace(), Name: a.GetName(), Part: a.GetSubresource(),
		attributes: a, config: &e.config,
	}
	if allowed, reason := r.decide(ctx, &rule); !allowed {
		return authorizer.DecisionNoOpinion, reason, nil
	}

	return authorizer.DecisionAllow, "", nil
}
