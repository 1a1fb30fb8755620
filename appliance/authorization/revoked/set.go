// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/apis/revocation"
)

// patience is how long a request waits for the records after the start of the server.
const patience = 10 * time.Second

var errUnknown = errors.New("it is not known yet which seeds are shut out; try again")

// Set has the records, and the open requests of seeds.
type Set struct {
	mu      sync.Mutex
	records map[string]entry
	// open are the open requests of each seed.
	open map[string]map[*request]struct{}
	// changed is called with the name of a seed after its record has changed.
	changed []func(seed string)

	synced chan struct{}
	once   sync.Once
}

// entry is a record in the version of its object.
type entry struct {
	revocation.Record

	version uint64
}

// request is an open request.
type request struct {
	end  context.CancelFunc
	done chan struct{}
}

// NewSet returns a set that knows nothing yet.
func NewSet() *Set {
	return &Set{records: map[string]entry{}, open: map[string]map[*request]struct{}{}, synced: make(chan struct{})}
}

// Synced says that all records were read.
func (s *Set) Synced() { s.once.Do(func() { close(s.synced) }) }

// Wait waits until all records were read, at most 10 seconds. Before that, nobody can say that a seed is not shut out.
func (s *Set) Wait(ctx context.Context) error {
	select {
	case <-s.synced:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-s.synced:
		return nil
	case <-ctx.Done():
		return errUnknown
	}
}

// Get returns the record of a seed, if there is one.
func (s *Set) Get(seed string) (revocation.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.records[seed]

	return e.Record, ok
}

// Revoked reports whether a seed is shut out, and why.
func (s *Set) Revoked(seed string) (reason string, is bool) {
	r, ok := s.Get(seed)

	return r.Reason, ok && r.Revoked
}

// List returns the records of all seeds that are shut out, by name.
func (s *Set) List() []revocation.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []revocation.Record{}
	for _, seed := range slices.Sorted(maps.Keys(s.records)) {
		if e := s.records[seed]; e.Revoked {
			all = append(all, e.Record)
		}
	}

	return all
}

// OnChange adds a function that is called with the name of a seed after its record has changed.
func (s *Set) OnChange(call func(seed string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(s.changed, call)
}

// put takes over a record and ends the requests of a seed that is shut out. It returns those that are still to end. Older versions
// than the known one are ignored: what was written here is known before its event arrives.
func (s *Set) put(object *corev1.ConfigMap) []*request {
	record, ok := revocation.Decode(object)
	if !ok {
		return nil
	}
	version := versionOf(object)
	s.mu.Lock()
	if known, ok := s.records[record.Seed]; ok && known.version > version {
		s.mu.Unlock()

		return nil
	}
	s.records[record.Seed] = entry{Record: record, version: version}
	var ending []*request
	if record.Revoked {
		ending = slices.Collect(maps.Keys(s.open[record.Seed]))
	}
	changed := slices.Clone(s.changed)
	s.mu.Unlock()
	for _, r := range ending {
		r.end()
	}
	for _, call := range changed {
		call(record.Seed)
	}

	return ending
}

// remove forgets a record, unless a newer version of it is known.
func (s *Set) remove(object *corev1.ConfigMap) {
	seed, ok := revocation.SeedOf(object.Name)
	if !ok {
		return
	}
	s.mu.Lock()
	known, ok := s.records[seed]
	ok = ok && known.version <= versionOf(object)
	if ok {
		delete(s.records, seed)
	}
	changed := slices.Clone(s.changed)
	s.mu.Unlock()
	for _, call := range changed {
		if ok {
			call(seed)
		}
	}
}

func versionOf(object *corev1.ConfigMap) uint64 {
	version, err := strconv.ParseUint(object.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}

	return version
}

// Handler feeds the set from an informer of the records.
func (s *Set) Handler() cache.ResourceEventHandler {
	put := func(object any) {
		if record, ok := object.(*corev1.ConfigMap); ok {
			s.put(record)
		}
	}

	return cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, object any) { put(object) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if record, ok := object.(*corev1.ConfigMap); ok {
				s.remove(record)
			}
		},
	}
}

// enter registers a request of a seed. It fails if the seed is shut out.
func (s *Set) enter(ctx context.Context, seed string) (context.Context, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &request{end: cancel, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.records[seed]; ok && e.Revoked {
		cancel()

		return nil, nil, refusal(e.Record)
	}
	if s.open[seed] == nil {
		s.open[seed] = map[*request]struct{}{}
	}
	s.open[seed][r] = struct{}{}

	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open[seed], r)
		if len(s.open[seed]) == 0 {
			delete(s.open, seed)
		}
		close(r.done)
	}, nil
}

// RefusedError says that a seed is shut out.
type RefusedError struct{ Record revocation.Record }

// Error implements error.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("seed %q is shut out of the garden", e.Record.Seed)
	if reason := strings.TrimSpace(e.Record.Reason); reason != "" {
		text += ": " + reason
	}

	return text
}

func refusal(r revocation.Record) error { return &RefusedError{Record: r} }
