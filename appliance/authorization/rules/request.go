// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// An unknown object may have been written a moment ago. The graph gets it a few milliseconds later, so a request for an
// unknown object waits for a short time.
const (
	patience = 250 * time.Millisecond
	pause    = 5 * time.Millisecond
)

// Request is a request of a client.
type Request[C Client] struct {
	// Client is who asks.
	Client C
	// Verb is none for a verb that no gardenlet uses.
	Verb Verbs
	// Namespace, Name and Part are those of the object and its subresource. A request for a Namespace has its name as the namespace.
	Namespace, Name, Part string

	attributes authorizer.Attributes
	config     *Config
}

// decide checks namespace, subresource, verbs, selectors and the graph, in this order (GAC-SA-1).
func (r *Request[C]) decide(ctx context.Context, rule *Rule[C]) (allowed bool, reason string) {
	limit := ^Verbs(0)
	if rule.Limit != nil {
		if limit = rule.Limit(r.Client); limit == 0 {
			return false, fmt.Sprintf("this client of %s may not access such objects", r.Client.Who())
		}
	}
	if rule.Check != nil {
		if allowed, only := rule.Check(ctx, r); allowed || only {
			return allowed, fmt.Sprintf("%s may not access this object", r.Client.Who())
		}
	}
	always, path := rule.Always&limit, rule.Path&limit
	here := r.Part == "" || r.Part == rule.AlwaysPart
	if !here && !slices.Contains(rule.Parts, r.Part) {
		return false, fmt.Sprintf("%s may use only the subresources %q", r.Client.Who(), rule.Parts)
	}
	switch {
	case always.Has(r.Verb) && here:
		return true, ""
	case !path.Has(r.Verb):
		return false, fmt.Sprintf("%s may use only the verbs %s", r.Client.Who(), always|path)
	case r.Name == "" && (List | Watch).Has(r.Verb):
		return r.selects(rule)
	case r.Name == "":
		return false, "the request names no object"
	}
	object := graph.Vertex{Kind: rule.Kind, Name: r.Name}
	if rule.Kind.Namespaced() {
		object.Namespace = r.Namespace
	}
	if !r.Belongs(ctx, object) {
		return false, fmt.Sprintf("%s does not belong to %s", object, r.Client.Who())
	}

	return true, ""
}

// Belongs reports whether the graph has a path from an object to the target of the client (GAC-SA-2).
func (r *Request[C]) Belongs(ctx context.Context, object graph.Vertex) bool {
	c, target := r.config, r.Client.Target()
	began := c.Clock.Now()
	belongs := c.Graph.Leads(object, target)
	c.Searched(object.Kind, c.Clock.Since(began))
	for !belongs && c.Clock.Since(began) < patience {
		if c.Graph.Knows(object) {
			return c.Graph.Leads(object, target)
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

// selects checks that a list or a watch selects only what belongs to the target (GAC-SA-3).
func (r *Request[C]) selects(rule *Rule[C]) (allowed bool, reason string) {
	switch {
	case rule.Label != nil:
		label := rule.Label(r.Client)

		return r.selectsLabel(label), fmt.Sprintf("the request must select by label %s=true", label)
	case rule.Fields != nil:
		for _, f := range rule.Fields(r.Client) {
			if !r.selectsField(f) {
				return false, fmt.Sprintf("the request must select by field %s=%s", f.Name, f.Value)
			}
		}

		return true, ""
	default:
		return false, "the request must select one object by field metadata.name"
	}
}

func (r *Request[C]) selectsField(f Field) bool {
	requirements, err := r.attributes.GetFieldSelector()

	return err == nil && slices.ContainsFunc(requirements, func(q fields.Requirement) bool {
		return q.Field == f.Name && q.Value == f.Value && (q.Operator == selection.Equals || q.Operator == selection.DoubleEquals)
	})
}

func (r *Request[C]) selectsLabel(label string) bool {
	requirements, err := r.attributes.GetLabelSelector()
	if err != nil {
		return false
	}
	for i := range requirements {
		q := &requirements[i]
		if q.Key() == label && slices.Equal(q.ValuesUnsorted(), []string{"true"}) &&
			(q.Operator() == selection.Equals || q.Operator() == selection.DoubleEquals || q.Operator() == selection.In) {
			return true
		}
	}

	return false
}
