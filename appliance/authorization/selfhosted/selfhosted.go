// SPDX-License-Identifier: Apache-2.0

// Package selfhosted knows the self-hosted shoots of a garden, since when each of them exists, and what belongs to it.
package selfhosted

import (
	"sync"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// Shoots is safe for concurrent use. The zero value is not usable.
type Shoots struct {
	// Graph has the paths that lead to self-hosted shoots.
	Graph *graph.Graph

	mu    sync.RWMutex
	since map[graph.Vertex]time.Time
}

// New returns no shoots.
func New() *Shoots { return &Shoots{Graph: graph.New(), since: map[graph.Vertex]time.Time{}} }

// Since returns when a shoot was created, and whether it exists and is self-hosted.
func (s *Shoots) Since(shoot graph.Vertex) (time.Time, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.since[shoot]

	return at, ok
}

// Set takes over an object; nil removes it. A new shoot is known before anything belongs to it, and one that is gone until nothing does:
// a client that asks whether an object belongs to its shoot, and then since when the shoot exists, gets no answer about another shoot.
func (s *Shoots) Set(v graph.Vertex, obj any) {
	shoot, ok := obj.(*gardencorev1beta1.Shoot)
	ok = ok && query.SelfHosted(&shoot.Spec)
	if ok {
		s.mu.Lock()
		s.since[v] = shoot.CreationTimestamp.Time
		s.mu.Unlock()
	}
	s.Graph.Set(v, references.OfSelfHosted(obj))
	if !ok && v.Kind == graph.Shoot {
		s.mu.Lock()
		delete(s.since, v)
		s.mu.Unlock()
	}
}

// Retain removes all objects of a kind except the given ones.
func (s *Shoots) Retain(kind graph.Kind, objects map[graph.Vertex]bool) {
	s.Graph.Retain(kind, objects)
	if kind != graph.Shoot {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.since {
		if !objects[v] {
			delete(s.since, v)
		}
	}
}
