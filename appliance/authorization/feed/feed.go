// SPDX-License-Identifier: Apache-2.0

// Package feed watches the garden and updates the graph of what belongs to which seed. It does not keep objects, but
// converts them into edges.
package feed

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
	"github.com/terrarium-garden/terrarium/appliance/authorization/selfhosted"
)

// Operations on objects, for metrics.
const (
	operationCreate = "CREATE"
	operationUpdate = "UPDATE"
	operationDelete = "DELETE"
)

// Config is what a feed needs. All fields are required.
type Config struct {
	// Graph is the graph to update.
	Graph *graph.Graph
	// Shoots are the self-hosted shoots, whose graph is updated as well.
	Shoots *selfhosted.Shoots
	// Clock is used for durations and for the expiration of certificates.
	Clock clock.PassiveClock
	// Updated is called with the duration of each update of the graph (GAC-GR-12).
	Updated func(kind graph.Kind, operation string, took time.Duration)
}

// Feed keeps a graph up to date.
type Feed struct {
	config  Config
	sources []source
	waiting atomic.Int32

	// The edges of a ManagedSeed depend on the Seed of the same name, and either of them may change.
	mu      sync.Mutex
	managed map[string]*gardenseedmanagementv1alpha1.ManagedSeed
	seeds   map[string]*gardencorev1beta1.Seed
}

type source struct {
	kind    graph.Kind
	objects *cache.ListWatch
}

// New returns a feed without sources.
func New(c Config) *Feed {
	return &Feed{
		config:  c,
		managed: map[string]*gardenseedmanagementv1alpha1.ManagedSeed{},
		seeds:   map[string]*gardencorev1beta1.Seed{},
	}
}

// Watch adds a source of the objects of one kind. It must be called before Run.
func (f *Feed) Watch(kind graph.Kind, objects *cache.ListWatch) {
	f.sources = append(f.sources, source{kind: kind, objects: objects})
	f.waiting.Add(1)
}

// Run watches all sources until ctx is done. A source that fails is retried.
func (f *Feed) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, s := range f.sources {
		into := &sink{feed: f, kind: s.kind}
		reflector := cache.NewReflectorWithOptions(plain{s.objects}, nil, into, cache.ReflectorOptions{
			Name: "seed-authorizer/" + s.kind.String(), TypeDescription: s.kind.String(),
		})
		group.Go(func() { reflector.RunWithContext(ctx) })
	}
	group.Wait()
}

// Synced reports whether every source has been listed.
func (f *Feed) Synced() bool { return f.waiting.Load() == 0 }

// Handler returns an event handler for an informer that updates the graph.
func (f *Feed) Handler(kind graph.Kind) cache.ResourceEventHandler {
	into := &sink{feed: f, kind: kind}

	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { into.set(obj, operationCreate) },
		UpdateFunc: func(_, obj any) { into.set(obj, operationUpdate) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			into.remove(obj)
		},
	}
}

// sink is a store for the objects of one kind that updates the graph.
type sink struct {
	feed *Feed
	kind graph.Kind
	once sync.Once
}

var _ cache.ReflectorStore = (*sink)(nil)

// Add implements cache.ReflectorStore.
func (s *sink) Add(obj any) error {
	s.set(obj, operationCreate)

	return nil
}

// Update implements cache.ReflectorStore.
func (s *sink) Update(obj any) error {
	s.set(obj, operationUpdate)

	return nil
}

// Delete implements cache.ReflectorStore.
func (s *sink) Delete(obj any) error {
	s.remove(obj)

	return nil
}

// Resync implements cache.ReflectorStore. It does nothing, because nothing changes without an event.
func (*sink) Resync() error { return nil }

// Replace implements cache.ReflectorStore.
func (s *sink) Replace(all []any, _ string) error {
	there := make(map[graph.Vertex]bool, len(all))
	for _, obj := range all {
		if v, ok := s.vertex(obj); ok {
			there[v] = true
			s.set(obj, operationUpdate)
		}
	}
	s.feed.forget(s.kind, there)
	s.feed.config.Graph.Retain(s.kind, there)
	s.feed.config.Shoots.Retain(s.kind, there)
	s.once.Do(func() { s.feed.waiting.Add(-1) })

	return nil
}

func (s *sink) vertex(obj any) (graph.Vertex, bool) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return graph.Vertex{}, false
	}

	return graph.Vertex{Kind: s.kind, Namespace: accessor.GetNamespace(), Name: accessor.GetName()}, true
}

func (s *sink) set(obj any, operation string) {
	v, ok := s.vertex(obj)
	if !ok {
		return
	}
	began := s.feed.config.Clock.Now()
	// The server wraps objects with several watches, so that they are encoded once.
	if wrapped, ok := obj.(runtime.CacheableObject); ok {
		obj = wrapped.GetObject()
	}
	s.feed.write(v, obj)
	s.feed.config.Updated(s.kind, operation, s.feed.config.Clock.Since(began))
}

func (s *sink) remove(obj any) {
	v, ok := s.vertex(obj)
	if !ok {
		return
	}
	began := s.feed.config.Clock.Now()
	s.feed.write(v, nil)
	s.feed.config.Updated(s.kind, operationDelete, s.feed.config.Clock.Since(began))
}

// write sets the edges of an object, and those of the ManagedSeed whose Seed it is. A deleted object is nil.
func (f *Feed) write(v graph.Vertex, obj any) {
	if v.Kind == graph.ManagedSeed || v.Kind == graph.Seed {
		// Edges that were derived from an earlier Seed or ManagedSeed must not be set after those of a later one.
		f.mu.Lock()
		defer f.mu.Unlock()
		f.remember(v, obj)
	}
	f.config.Graph.Set(v, references.WithoutCAs(f.edges(obj)))
	f.config.Shoots.Set(v, obj)
}

// edges returns the edges of an object.
func (f *Feed) edges(obj any) []graph.Edge {
	switch o := obj.(type) {
	case *gardencorev1beta1.BackupBucket:
		return references.BackupBucket(o)
	case *gardencorev1beta1.BackupEntry:
		return references.BackupEntry(o)
	case *gardenoperationsv1alpha1.Bastion:
		return references.Bastion(o)
	case *certificatesv1.CertificateSigningRequest:
		return references.CertificateSigningRequest(o)
	case *gardencorev1.ControllerDeployment:
		return references.ControllerDeployment(o)
	case *gardencorev1beta1.ControllerInstallation:
		return references.ControllerInstallation(o)
	case *gardensecurityv1alpha1.CredentialsBinding:
		return references.CredentialsBinding(o)
	case *gardenseedmanagementv1alpha1.ManagedSeed:
		return f.managedSeed(o) // The caller has locked what is known of the Seed.
	case *gardencorev1beta1.Project:
		return references.Project(o)
	case *gardencorev1beta1.SecretBinding:
		return references.SecretBinding(o)
	case *gardencorev1beta1.Seed:
		return references.Seed(o)
	case *corev1.ServiceAccount:
		return references.ServiceAccount(o)
	case *gardencorev1beta1.Shoot:
		return references.Shoot(o)
	default:
		return nil
	}
}

// Kinds returns the kinds of the garden that are in the graph, by group and resource.
func Kinds() map[string]map[string]graph.Kind {
	return map[string]map[string]graph.Kind{
		gardencorev1beta1.GroupName: {
			"backupbuckets": graph.BackupBucket, "backupentries": graph.BackupEntry,
			"controllerdeployments": graph.ControllerDeployment, "controllerinstallations": graph.ControllerInstallation,
			"projects": graph.Project, "secretbindings": graph.SecretBinding, "seeds": graph.Seed, "shoots": graph.Shoot,
		},
		gardenoperationsv1alpha1.GroupName:     {"bastions": graph.Bastion},
		gardensecurityv1alpha1.GroupName:       {"credentialsbindings": graph.CredentialsBinding},
		gardenseedmanagementv1alpha1.GroupName: {"managedseeds": graph.ManagedSeed},
	}
}

// plain is a source that does not support lists by watch.
type plain struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported tells the reflector that lists by watch are not supported.
func (plain) IsWatchListSemanticsUnSupported() bool { return true }
