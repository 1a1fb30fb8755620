// SPDX-License-Identifier: Apache-2.0

// Package references returns the references of the objects of the garden as edges of the graph. Its functions are pure: they
// depend only on the object.
package references

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

const (
	kindSecret           = "Secret"
	kindInternalSecret   = "InternalSecret"
	kindConfigMap        = "ConfigMap"
	kindWorkloadIdentity = "WorkloadIdentity"
	kindShoot            = "Shoot"
)

// edges collects the edges to and from one object.
type edges struct {
	of  graph.Vertex
	all []graph.Edge
}

func edgesOf(kind graph.Kind, namespace, name string) *edges {
	return &edges{of: graph.Vertex{Kind: kind, Namespace: namespace, Name: name}}
}

// has adds a reference of the object to another one, which thus belongs to it.
func (e *edges) has(kind graph.Kind, namespace, name string) {
	if name != "" {
		e.add(graph.Edge{From: graph.Vertex{Kind: kind, Namespace: namespace, Name: name}, To: e.of})
	}
}

// belongs adds an edge to another object that the object belongs to.
func (e *edges) belongs(kind graph.Kind, namespace, name string) {
	if name != "" {
		e.add(graph.Edge{From: e.of, To: graph.Vertex{Kind: kind, Namespace: namespace, Name: name}})
	}
}

func (e *edges) add(edge graph.Edge) {
	if !slices.Contains(e.all, edge) {
		e.all = append(e.all, edge)
	}
}

func (e *edges) belongsToSeed(name *string) {
	if name != nil {
		e.belongs(graph.Seed, "", *name)
	}
}

// hasNamed adds a reference with a kind, such as one to credentials. References to kinds that are not in the graph are
// ignored.
func (e *edges) hasNamed(kind, namespace, name string) {
	switch kind {
	case kindSecret:
		e.has(graph.Secret, namespace, name)
	case kindInternalSecret:
		e.has(graph.InternalSecret, namespace, name)
	case kindConfigMap:
		e.has(graph.ConfigMap, namespace, name)
	case kindWorkloadIdentity:
		e.has(graph.WorkloadIdentity, namespace, name)
	}
}

func (e *edges) hasObject(ref *corev1.ObjectReference) {
	if ref != nil {
		e.hasNamed(ref.Kind, ref.Namespace, ref.Name)
	}
}

func (e *edges) hasSecret(ref *corev1.SecretReference) {
	if ref != nil {
		e.has(graph.Secret, ref.Namespace, ref.Name)
	}
}
