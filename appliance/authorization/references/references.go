// SPDX-License-Identifier: Apache-2.0

// Package references says which objects an object of the garden refers to, in edges of the graph that tells what belongs
// to which seed. Its functions are pure: what an object says is all they know.
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

// edges collects edges to and from one object.
type edges struct {
	of  graph.Vertex
	all []graph.Edge
}

func edgesOf(kind graph.Kind, namespace, name string) *edges {
	return &edges{of: graph.Vertex{Kind: kind, Namespace: namespace, Name: name}}
}

// has says that the object refers to another one, which thus belongs to it.
func (e *edges) has(kind graph.Kind, namespace, name string) {
	if name != "" {
		e.add(graph.Edge{From: graph.Vertex{Kind: kind, Namespace: namespace, Name: name}, To: e.of})
	}
}

// belongs says that the object belongs to another one.
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

// hasNamed is an object that is named with its kind, such as credentials. Kinds that are no part of the graph are none of
// a seed's business.
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
