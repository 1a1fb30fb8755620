// SPDX-License-Identifier: Apache-2.0

// Package seedauthorizer authorizes a gardenlet, and the extensions of its seed, for what they need for their seed and no
// more. It never denies: later authorizers may allow more, such as RBAC what every user may read.
package seedauthorizer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// An unknown object may have been written a moment ago. The graph gets it a few milliseconds later, so a request for an
// unknown object waits for a short time.
const (
	patience = 250 * time.Millisecond
	pause    = 5 * time.Millisecond
)

// Config is what the authorizer needs. All fields but Log are required.
type Config struct {
	// Log takes a line at level 1 for each request of a client of a seed that no rule is about (GAC-SAR-19).
	Log logr.Logger
	// Graph is the graph of what belongs to which seed.
	Graph *graph.Graph
	// Clock is used to measure searches and to wait.
	Clock clock.Clock
	// Searched is called with the duration of each search for a path (GAC-GR-12).
	Searched func(from graph.Kind, took time.Duration)
}

// Authorizer implements authorizer.Authorizer.
type Authorizer struct {
	config Config
	rules  map[schema.GroupResource]rule
}

var _ authorizer.Authorizer = (*Authorizer)(nil)

// New returns the authorizer.
func New(c Config) *Authorizer { return &Authorizer{config: c, rules: rules()} }

// request is a request of a client of a seed.
type request struct {
	client                seedclient.Client
	verb                  verbs
	namespace, name, part string
	attributes            authorizer.Attributes
	authorizer            *Authorizer
}

// Authorize implements authorizer.Authorizer.
func (z *Authorizer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	client, ok := seedclient.Of(a.GetUser())
	if !ok {
		return authorizer.DecisionNoOpinion, "", nil
	}
	if !a.IsResourceRequest() {
		z.config.Log.V(1).Info("No opinion on a path", "seed", client.Seed, "user", a.GetUser().GetName(), "verb", a.GetVerb(), "path", a.GetPath())
		return authorizer.DecisionNoOpinion, "", nil
	}
	rule, ok := z.rules[schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}]
	if !ok {
		z.config.Log.V(1).Info("No opinion on a resource", "seed", client.Seed, "user", a.GetUser().GetName(), "verb", a.GetVerb(),
			"group", a.GetAPIGroup(), "resource", a.GetResource(), "namespace", a.GetNamespace(), "name", a.GetName())
		return authorizer.DecisionNoOpinion, "this is none of a seed's business", nil
	}
	r := &request{
		client: client, verb: verbOf(a.GetVerb()), namespace: a.GetNamespace(), name: a.GetName(), part: a.GetSubresource(),
		attributes: a, authorizer: z,
	}
	if allowed, reason := r.decide(ctx, &rule); !allowed {
		return authorizer.DecisionNoOpinion, reason, nil
	}

	return authorizer.DecisionAllow, "", nil
}

// decide checks namespace, subresource, verbs, selectors and the graph, in this order (GAC-SA-1).
func (r *request) decide(ctx context.Context, rule *rule) (allowed bool, reason string) {
	if rule.gardenletOnly && r.client.Extension {
		return false, "only the gardenlet of a seed may access such objects"
	}
	if rule.check != nil {
		if allowed, only := rule.check(ctx, r); allowed || only {
			return allowed, fmt.Sprintf("seed %q may not access this object", r.client.Seed)
		}
	}
	if r.part != "" && !slices.Contains(rule.parts, r.part) {
		return false, fmt.Sprintf("a seed may use only the subresources %q", rule.parts)
	}
	always, path := rule.always, rule.path
	if rule.readOnly && r.client.Extension {
		always, path = always&read, path&read
	}
	switch {
	case always.has(r.verb) && (r.part == "" || r.part == partSeedClient):
		return true, ""
	case !path.has(r.verb):
		return false, "a seed may use only the verbs " + (always | path).String()
	case r.name == "" && (list | watch).has(r.verb):
		return r.selects(rule)
	case r.name == "":
		return false, "the request names no object"
	}
	object := graph.Vertex{Kind: rule.kind, Name: r.name}
	if rule.kind.Namespaced() {
		// A request for a Namespace has its name as the namespace.
		object.Namespace = r.namespace
	}
	if !r.belongs(ctx, object) {
		return false, fmt.Sprintf("%s does not belong to seed %q", object, r.client.Seed)
	}

	return true, ""
}

// belongs reports whether the graph has a path from an object to the seed (GAC-SA-2).
func (r *request) belongs(ctx context.Context, object graph.Vertex) bool {
	c := r.authorizer.config
	began := c.Clock.Now()
	belongs := c.Graph.BelongsTo(object, r.client.Seed)
	c.Searched(object.Kind, c.Clock.Since(began))
	for !belongs && c.Clock.Since(began) < patience {
		if c.Graph.Knows(object) {
			return c.Graph.BelongsTo(object, r.client.Seed)
		}
		timer := c.Clock.NewTimer(pause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()

			return false
		}
	}

	return belongs
}

// selects checks that a list or a watch selects only what belongs to the seed (GAC-SA-3).
func (r *request) selects(rule *rule) (allowed bool, reason string) {
	if rule.field != "" {
		requirements, err := r.attributes.GetFieldSelector()
		for _, q := range requirements {
			if err == nil && q.Field == rule.field && q.Value == r.client.Seed &&
				(q.Operator == selection.Equals || q.Operator == selection.DoubleEquals) {
				return true, ""
			}
		}
	}
	label := gardencorev1beta1.LabelPrefixSeedName + r.client.Seed
	if rule.label {
		requirements, err := r.attributes.GetLabelSelector()
		for i := range requirements {
			q := &requirements[i]
			if err == nil && q.Key() == label && slices.Equal(q.ValuesUnsorted(), []string{"true"}) &&
				(q.Operator() == selection.Equals || q.Operator() == selection.DoubleEquals || q.Operator() == selection.In) {
				return true, ""
			}
		}
	}

	return false, r.selectorReason(rule, label)
}

func (r *request) selectorReason(rule *rule, label string) string {
	switch {
	case rule.label:
		return fmt.Sprintf("the request must select by label %s=true", label)
	case rule.field != "":
		return fmt.Sprintf("the request must select by field %s=%s", rule.field, r.client.Seed)
	default:
		return "the request must select one object by field metadata.name"
	}
}
