// SPDX-License-Identifier: Apache-2.0

package inshoot_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/inshoot"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const home = "shoot--dev--a"

// stage is a seed with one shoot, and what was acted on in it.
type stage struct {
	seed, shoot client.WithWatch
	clock       *clocktesting.FakeClock
	reconciler  *inshoot.Reconciler
	// watches gets a message when a watch begins.
	watches chan struct{}

	mu   sync.Mutex
	seen map[string]int
	// access is the error of reaching the shoot, act that of acting, unfinished what acting reports.
	access, act error
	unfinished  bool
}

func newStage(t *testing.T) *stage {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{clock: clocktesting.NewFakeClock(time.Now()), seen: map[string]int{}, watches: make(chan struct{}, 100)}
	s.seed = fake.NewClientBuilder().WithScheme(types).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home}},
		&gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: home}, Spec: gardenextensionsv1alpha1.ClusterSpec{Shoot: raw(`{}`)}},
	).Build()
	s.shoot = fake.NewClientBuilder().WithScheme(types).WithInterceptorFuncs(interceptor.Funcs{
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			changes, err := c.Watch(ctx, list, options...)
			s.watches <- struct{}{}
			return changes, err
		},
	}).Build()
	s.reconciler = &inshoot.Reconciler{
		Base: kit.Base{Client: s.seed, Clock: s.clock},
		Targets: target.Finder{Seed: s.seed, Shoot: func(context.Context, string) (*kit.Shoot, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return &kit.Shoot{Client: s.shoot, Watcher: s.shoot}, s.access
		}},
		Kinds: []inshoot.Kind{{
			Name: "maps", List: func() client.ObjectList { return &corev1.ConfigMapList{} }, Options: []client.ListOption{client.MatchingLabels{"followed": "true"}},
			Act: func(_ context.Context, _ inshoot.Shoot, object client.Object) (bool, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.seen[object.GetName()]++
				return s.unfinished, s.act
			},
		}},
	}
	s.reconciler.Prepare()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- s.reconciler.Follow(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follow: %v", err)
		}
	})
	return s
}

func (s *stage) create(t *testing.T, name, followed string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"followed": followed}}}
	if err := s.shoot.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) reconcile(t *testing.T) ctrl.Result {
	t.Helper()
	result, err := s.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: home}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// await waits until an object was acted on that often.
func (s *stage) await(t *testing.T, name string, times int) {
	t.Helper()
	eventually(t, name+" is acted on", func() bool { return s.times(name) >= times })
}

func (s *stage) times(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[name]
}

func (s *stage) acted() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

func (s *stage) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// stepOnce moves the clock as soon as something waits for it.
func (s *stage) stepOnce(t *testing.T, by time.Duration) {
	t.Helper()
	eventually(t, "something waits for the clock", s.clock.HasWaiters)
	s.clock.Step(by)
}

func TestFollow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.create(t, "first", "true")
	s.create(t, "other", "false")
	if result := s.reconcile(t); result.RequeueAfter != 0 {
		t.Errorf("an awake shoot is looked at again after %s", result.RequeueAfter)
	}
	s.await(t, "first", 1)
	<-s.watches
	s.create(t, "second", "true")
	s.await(t, "second", 1)
	if diff := cmp.Diff(map[string]int{"first": 1, "second": 1}, s.acted()); diff != "" {
		t.Errorf("how often was acted on what (-want +got):\n%s", diff)
	}
	s.reconcile(t) // again: nothing is followed twice
	s.create(t, "third", "true")
	s.await(t, "third", 1)
	if diff := cmp.Diff(map[string]int{"first": 1, "second": 1, "third": 1}, s.acted()); diff != "" {
		t.Errorf("how often was acted on what (-want +got):\n%s", diff)
	}

	// What fails is looked at again soon, what does not with all others later.
	s.set(func() { s.act = errors.New("it fails") })
	s.create(t, "broken", "true")
	s.await(t, "broken", 1)
	s.set(func() { s.act = nil })
	s.stepOnce(t, 10*time.Second)
	s.await(t, "broken", 2)
	<-s.watches
	s.stepOnce(t, 10*time.Minute)
	s.await(t, "broken", 3)
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.access = kit.ErrNoShootAccess
	s.create(t, "first", "true")
	if result := s.reconcile(t); result.RequeueAfter == 0 {
		t.Error("a shoot without access is not looked at again")
	}
	s.set(func() { s.access = nil })
	s.reconcile(t)
	s.await(t, "first", 1)
	<-s.watches

	// A shoot that falls asleep is let go, and followed again when it wakes up.
	s.sleep(t, true)
	s.reconcile(t)
	s.sleep(t, false)
	s.reconcile(t)
	s.await(t, "first", 2)

	if err := s.seed.Delete(t.Context(), &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: home}}); err != nil {
		t.Fatal(err)
	}
	s.reconcile(t)
	s.reconcile(t) // nothing is followed, so nothing can be ended
}

// TestList reads lists of a program that answers in the place of the API server.
func TestList(t *testing.T) {
	t.Parallel()
	kind := inshoot.Kind{Name: "maps", List: func() client.ObjectList { return &corev1.ConfigMapList{} }}
	for name, tc := range map[string]struct {
		reason string
		// answer fills a page, and returns what comes after it.
		answer func(ctx context.Context, next string) (string, error)
		want   error
		acts   int
		took   time.Duration
	}{
		"Changes": {
			reason: "changes are watched from the first page on", acts: 2,
			answer: func(_ context.Context, next string) (string, error) { return map[string]string{"": "2"}[next], nil },
		},
		"Endless": {
			reason: "a list has an end", want: kit.ErrEndless, acts: 1000,
			answer: func(context.Context, string) (string, error) { return "more", nil },
		},
		"Slow": {
			reason: "and takes not for ever", want: context.DeadlineExceeded, took: inshoot.ListTimeout,
			answer: func(ctx context.Context, _ string) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pages, acts, begin := 0, 0, time.Now()
				c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
					List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if pages++; pages > 5000 {
							return errors.New("the list is read without an end")
						}
						page, _ := list.(*corev1.ConfigMapList)
						page.Items, page.ResourceVersion = make([]corev1.ConfigMap, 1), strconv.Itoa(pages)
						var err error
						page.Continue, err = tc.answer(ctx, (&client.ListOptions{}).ApplyOptions(options).Continue)
						return err
					},
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				version, err := inshoot.List(ctx, &kit.Shoot{Client: c}, kind, func(client.Object) { acts++ })
				if !errors.Is(err, tc.want) || tc.want == nil && (err != nil || version != "1") {
					t.Errorf("%s\nList(...) = %q, %v, want %v", tc.reason, version, err, tc.want)
				}
				if took := time.Since(begin); acts != tc.acts || took != tc.took {
					t.Errorf("%s\nList(...) has acted on %d objects in %s, want %d in %s", tc.reason, acts, took, tc.acts, tc.took)
				}
			})
		})
	}
}

func (s *stage) sleep(t *testing.T, asleep bool) {
	t.Helper()
	cluster := &gardenextensionsv1alpha1.Cluster{}
	if err := s.seed.Get(t.Context(), client.ObjectKey{Name: home}, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Shoot = raw(`{}`)
	if asleep {
		cluster.Spec.Shoot = raw(`{"spec":{"hibernation":{"enabled":true}},"status":{"hibernated":true}}`)
	}
	if err := s.seed.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
}

func raw(text string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(text)} }

// eventually waits until something is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	check := func(context.Context) (bool, error) { return is(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, check); err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}
