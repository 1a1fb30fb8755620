// SPDX-License-Identifier: Apache-2.0

package feed

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// remember keeps ManagedSeeds and Seeds, because the edges of a ManagedSeed depend on both. A deleted object is nil. The caller holds
// the lock.
func (f *Feed) remember(v graph.Vertex, obj any) {
	switch v.Kind {
	case graph.ManagedSeed:
		if v.Namespace != gardencorev1beta1.NamespaceGarden {
			return
		}
		delete(f.managed, v.Name)
		if m, ok := obj.(*gardenseedmanagementv1alpha1.ManagedSeed); ok {
			f.managed[v.Name] = m
		}
	case graph.Seed:
		delete(f.seeds, v.Name)
		if s, ok := obj.(*gardencorev1beta1.Seed); ok {
			f.seeds[v.Name] = s
		}
		if m := f.managed[v.Name]; m != nil {
			f.config.Graph.Set(managedSeedVertex(m), f.managedSeed(m))
		}
	default:
	}
}

// forget removes the objects that a list does not contain.
func (f *Feed) forget(kind graph.Kind, there map[graph.Vertex]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch kind {
	case graph.ManagedSeed:
		for name, m := range f.managed {
			if !there[managedSeedVertex(m)] {
				delete(f.managed, name)
			}
		}
	case graph.Seed:
		for name := range f.seeds {
			if there[graph.Vertex{Kind: graph.Seed, Name: name}] {
				continue
			}
			delete(f.seeds, name)
			if m := f.managed[name]; m != nil {
				f.config.Graph.Set(managedSeedVertex(m), f.managedSeed(m))
			}
		}
	default:
	}
}

// managedSeed returns the edges of a ManagedSeed: to its shoot, from its Seed, and while it may join from the token or service
// account for that. Only ManagedSeeds in the namespace garden have a Seed (GAC-GR-8).
func (f *Feed) managedSeed(m *gardenseedmanagementv1alpha1.ManagedSeed) []graph.Edge {
	if m.Namespace != gardencorev1beta1.NamespaceGarden {
		return nil
	}

	return references.ManagedSeed(m, references.Joins(m, f.seeds[m.Name], f.config.Clock.Now()))
}

func managedSeedVertex(m *gardenseedmanagementv1alpha1.ManagedSeed) graph.Vertex {
	return graph.Vertex{Kind: graph.ManagedSeed, Namespace: m.Namespace, Name: m.Name}
}
