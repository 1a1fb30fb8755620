// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
	"github.com/terrarium-garden/terrarium/controllers/scheduler/picture"
)

var errBoom = errors.New("boom")

// office is a scheduler with the garden that it sees.
type office struct {
	*scheduler.Reconciler

	clock  *testingclock.FakeClock
	events *events.FakeRecorder
	// bound is the seed that was asked for last, and asked is how often one was.
	bound string
	asked int
	// refuse, if set, is what the server answers to the next binding.
	refuse func() error
}

func newOffice(t *testing.T, objects ...client.Object) *office {
	t.Helper()
	o := &office{
		clock: testingclock.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), events: events.NewFakeRecorder(100),
	}
	garden := fake.NewClientBuilder().WithScheme(kinds(t)).WithObjects(objects...).WithStatusSubresource(&shoot{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(_ context.Context, _ client.Client, _ string, obj client.Object, _ ...client.SubResourceUpdateOption) error {
				s, ok := obj.(*shoot)
				if !ok {
					return nil
				}
				o.bound = *s.Spec.SeedName
				o.asked++
				if o.refuse == nil {
					return nil
				}
				return o.refuse()
			},
		}).Build()
	o.Reconciler = &scheduler.Reconciler{
		Base: kit.Base{
			Client: garden, Reader: garden, Recorder: o.events, Clock: o.clock,
			Queue: kit.Queue{BaseDelay: time.Second, MaxDelay: 30 * time.Second},
		},
		Config: gardenconfigv1alpha1.SchedulerConfiguration{
			CandidateDeterminationStrategy: gardenconfigv1alpha1.CandidateDeterminationStrategySameRegion,
		},
		Picture: picture.New(o.clock),
	}
	for _, object := range objects {
		if s, ok := object.(*seed); ok {
			o.Picture.SetSeed(s)
		}
	}
	return o
}

func kinds(t *testing.T) *runtime.Scheme {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return types
}

func crazyBotany() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: "crazy-botany"}}
}

func (o *office) attempt(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := reconcile.AsReconciler(o.Client, o.Reconciler).Reconcile(t.Context(), crazyBotany())
	if err != nil {
		t.Fatalf("Reconcile(...) = %v, want no error: nothing is wrong with the scheduler", err)
	}
	return result
}

func (o *office) shoot(t *testing.T) *shoot {
	t.Helper()
	s := &shoot{}
	if err := o.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "crazy-botany"}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func of(kind, name string) func(*shoot) {
	return func(s *shoot) { s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name} }
}

func TestShootThatWaits_SCHED_BIND_2_3(t *testing.T) {
	t.Parallel()
	own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "own"}}
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    string
	}{
		"NoSeed":      {reason: "a garden without seeds", objects: []client.Object{newShoot(of("CloudProfile", "local")), newProfile()}, want: "there is no seed"},
		"NoneFits":    {reason: "a seed elsewhere", objects: []client.Object{newShoot(of("CloudProfile", "local")), newProfile(), new(newSeed("a", region("us")))}, want: "0 of 1 seeds"},
		"NoProfile":   {reason: "a profile that is made later", objects: []client.Object{newShoot(of("CloudProfile", "local"))}, want: `get cloud profile "local"`},
		"NotYetOffer": {reason: "a profile of the project that is new", objects: []client.Object{newShoot(of("NamespacedCloudProfile", "own")), own}, want: "not merged with its parent yet"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, tc.objects...)
			var pauses []time.Duration
			for range 7 {
				pause := o.attempt(t).RequeueAfter
				pauses = append(pauses, pause)
				o.clock.Step(pause)
			}
			var want []time.Duration
			for _, seconds := range []int{1, 1, 2, 4, 8, 16, 30} {
				want = append(want, time.Duration(seconds)*time.Second)
			}
			if diff := cmp.Diff(want, pauses); diff != "" {
				t.Errorf("%s\nThe pauses double up to a bound (-want +got):\n%s", tc.reason, diff)
			}
			last := o.shoot(t).Status.LastOperation
			if last.Type != "Create" || last.State != "Pending" || !strings.Contains(last.Description, tc.want) {
				t.Errorf("%s\nlastOperation = %+v, want Create, Pending and %q", tc.reason, last, tc.want)
			}
			if event := <-o.events.Events; !strings.HasPrefix(event, "Warning SchedulingFailed ") || !strings.Contains(event, tc.want) {
				t.Errorf("%s\nevent %q, want a warning with %q", tc.reason, event, tc.want)
			}
		})
	}
}

// TestFailedForGood has a shoot that has lost its seed after its last operation had failed for good.
func TestFailedForGood_SCHED_BIND_3(t *testing.T) {
	t.Parallel()
	failed := &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed", Description: "the account is locked"}
	s := newShoot(of("CloudProfile", "local"))
	s.Status.LastOperation = failed.DeepCopy()
	o := newOffice(t, s, newProfile())
	if result := o.attempt(t); result.RequeueAfter == 0 {
		t.Error("the shoot is tried again")
	}
	if diff := cmp.Diff(failed, o.shoot(t).Status.LastOperation); diff != "" {
		t.Errorf("The owner still sees what there is to mend (-want +got):\n%s", diff)
	}
	if event := <-o.events.Events; !strings.HasPrefix(event, "Warning SchedulingFailed ") {
		t.Errorf("event %q tells the rest", event)
	}
}

func TestAnotherReasonBeginsAnew(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newShoot(of("CloudProfile", "local")), newProfile())
	o.attempt(t)
	o.clock.Step(time.Hour)
	if got := o.attempt(t).RequeueAfter; got != 30*time.Second {
		t.Fatalf("after an hour the pause is %s, want the longest", got)
	}
	o.Picture.SetSeed(new(newSeed("a", region("us"))))
	if got := o.attempt(t).RequeueAfter; got != time.Second {
		t.Errorf("The world changes, so there may be more to come soon.\nRequeueAfter = %s, want 1s", got)
	}
}

// TestClockSetBack_SCHED_BIND_2 sets a clock right that was an hour ahead when the shoot began to wait.
func TestClockSetBack_SCHED_BIND_2(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newShoot(of("CloudProfile", "local")), newProfile())
	o.attempt(t)
	o.clock.Step(-time.Hour)
	if got := o.attempt(t).RequeueAfter; got != 30*time.Second {
		t.Errorf("When it is not known how long the shoot has waited, the pause is %s, want the longest", got)
	}
}

func TestProfileOfTheProject(t *testing.T) {
	t.Parallel()
	own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "own"}}
	own.Status.ObservedGeneration = 1
	own.Status.CloudProfileSpec.SeedSelector = &gardencorev1beta1.SeedSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"zone": "b"}},
	}
	inB := newSeed("b", func(s *seed) { s.Labels["zone"] = "b" })
	o := newOffice(t, newShoot(of("NamespacedCloudProfile", "own")), own, new(newSeed("a")), &inB)
	if result := o.attempt(t); !result.IsZero() || o.bound != "b" {
		t.Errorf("The selector of the profile that the project made leaves seed b.\nReconcile(...) = %v, bound to %q", result, o.bound)
	}
}

func TestDefaultDomainInProject_SCHED_FILT_8(t *testing.T) {
	t.Parallel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"project.gardener.cloud/name": "dev"}}}
	o := newOffice(t, namespace, newShoot(of("CloudProfile", "local"), domain("crazy-botany.dev.x.example")), newProfile(),
		new(newSeed("a")), new(newSeed("b", defaults("x.example"))))
	o.attempt(t)
	if o.bound != "b" {
		t.Errorf("The name of the project comes from the namespace.\nbound to seed %q, want b", o.bound)
	}
}

// TestDefaultDomainOfGarden_SCHED_FILT_8 has Secrets in the garden of which one is a default domain.
func TestDefaultDomainOfGarden_SCHED_FILT_8(t *testing.T) {
	t.Parallel()
	secret := func(namespace, name, role, domain, provider string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"gardener.cloud/role": role},
			Annotations: map[string]string{"dns.gardener.cloud/domain": domain, "dns.gardener.cloud/provider": provider},
		}}
	}
	for domain, want := range map[string]string{"x": "b", "internal": "a", "elsewhere": "a", "nobody": "a"} {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"project.gardener.cloud/name": "dev"}}}
			o := newOffice(t, namespace, newShoot(of("CloudProfile", "local"), func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("crazy-botany.dev." + domain + ".example")}
			}), newProfile(), new(newSeed("a", defaults("y.example"))), new(newSeed("b")),
				secret("garden", "x", "default-domain", "x.example", "local"), secret("garden", "internal", "internal-domain", "internal.example", "local"),
				secret("garden-dev", "elsewhere", "default-domain", "elsewhere.example", "local"), secret("garden", "nobody", "default-domain", "nobody.example", ""),
				secret("garden", "empty", "default-domain", "", "local"))
			o.attempt(t)
			if o.bound != want {
				t.Errorf("bound to seed %q, want %s", o.bound, want)
			}
		})
	}
}

// TestWorkers_SCHED_PROC_2 holds all bindings back. Decisions do not wait for them: four shoots for each configured worker are decided.
func TestWorkers_SCHED_PROC_2(t *testing.T) {
	t.Parallel()
	for configured, want := range map[int]int{1: 4, 5: 20} {
		t.Run(fmt.Sprint(configured), func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{newProfile(), new(newSeed("a"))}
			for i := range want {
				objects = append(objects, newShoot(of("CloudProfile", "local"), func(s *shoot) { s.Name = fmt.Sprint("shoot-", i) }))
			}
			o := newOffice(t, objects...)
			o.Config.ConcurrentSyncs = &configured
			decided, release := make(chan string, want), make(chan struct{})
			o.Client = holdBindings(t, decided, release, objects...)
			cluster := kittest.NewCluster(t, kinds(t))
			if err := o.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
				t.Fatal(err)
			}
			if got := o.Queue.Concurrency; got != want {
				t.Errorf("%d workers have up to %d shoots in hand, want %d", configured, got, want)
			}
			for _, object := range objects[2:] {
				cluster.Of(&shoot{}).Add(object)
			}
			stop := cluster.Start(t)
			names := map[string]bool{}
			for late := time.After(30 * time.Second); len(names) < want && !t.Failed(); {
				select {
				case name := <-decided:
					names[name] = true
				case <-late:
					t.Errorf("%d workers have decided %d of %d shoots while no binding is answered", configured, len(names), want)
				}
			}
			close(release)
			stop()
		})
	}
}

// holdBindings returns a garden that tells which shoots are to be bound, and answers when it is released.
func holdBindings(t *testing.T, decided chan<- string, release <-chan struct{}, objects ...client.Object) client.Client {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(kinds(t)).WithObjects(objects...).WithStatusSubresource(&shoot{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(_ context.Context, _ client.Client, _ string, obj client.Object, _ ...client.SubResourceUpdateOption) error {
				select {
				case decided <- obj.GetName():
				case <-release:
				}
				<-release
				return nil
			},
		}).Build()
}

// TestSeedsDoNotTrigger_SCHED_BIND_4 has one worker, so that attempts are made in the order in which they were asked for: when that for the last
// shoot is over, so are those that others have started.
func TestSeedsDoNotTrigger_SCHED_BIND_4(t *testing.T) {
	t.Parallel()
	final := newShoot(of("CloudProfile", "local"), func(s *shoot) { s.Name = "final" })
	o := newOffice(t, newShoot(of("CloudProfile", "local")), final, newProfile())
	o.Queue.Concurrency = 1
	cluster := kittest.NewCluster(t, kinds(t))
	if err := o.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	cluster.Start(t)
	eventually := func(what string, is func() bool) {
		t.Helper()
		poll := func(context.Context) (bool, error) { return is(), nil }
		if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, poll); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	attempted := func() bool { return len(o.events.Events) > 0 }
	cluster.Of(&shoot{}).Add(o.shoot(t))
	eventually("an attempt is made for a shoot", attempted)
	<-o.events.Events
	// Of two that come, the first is done with when the second is seen.
	for i, name := range []string{"a", "b"} {
		cluster.Of(&seed{}).Add(new(newSeed(name, region("us"))))
		eventually("a seed that a watch shows belongs to the picture", func() bool {
			seeds := o.Picture.Seeds()
			return len(seeds) == i+1 && seeds[i].Name == name
		})
	}
	for i, name := range []string{"one", "two"} {
		placed := on("a", "")
		placed.Name = name
		cluster.Of(&shoot{}).Add(&placed)
		eventually("so does a shoot", func() bool { return o.Picture.Used("a") == i+1 })
	}
	key := client.ObjectKeyFromObject(final)
	if err := o.Client.Get(t.Context(), key, final); err != nil {
		t.Fatal(err)
	}
	cluster.Of(&shoot{}).Add(final)
	eventually("an attempt is made for the last shoot", func() bool {
		tried := &shoot{}
		return o.Client.Get(t.Context(), key, tried) == nil && tried.Status.LastOperation != nil
	})
	if n := len(o.events.Events); n != 1 {
		t.Errorf("%d attempts, want that for the last shoot, and none for seeds and shoots that have one", n)
	}
	if diff := cmp.Diff([]string{"Seed", "Shoot"}, cluster.Watched()); diff != "" {
		t.Errorf("Seeds and shoots are all that the picture is made of.\nwatched kinds (-want +got):\n%s", diff)
	}
}

func TestBindingThatIsRefused_SCHED_BIND_3(t *testing.T) {
	t.Parallel()
	resource := gardencorev1beta1.Resource("shoots")
	conflict := apierrors.NewConflict(resource, "crazy-botany", errBoom)
	cases := map[string]struct {
		reason string
		refuse []error
		// asked is how many bindings are asked for, used how many shoots count for the seed then.
		asked, used int
		// again says that the attempt is repeated soon, told that the owner is told.
		again, told bool
	}{
		"Accepted":     {reason: "the seed counts from now on", asked: 1, used: 1},
		"Conflict":     {reason: "a conflict costs one retry", refuse: []error{conflict}, asked: 2, used: 1},
		"ConflictBoth": {reason: "not a storm, and nobody is told", refuse: []error{conflict, conflict}, asked: 2, again: true},
		"Forbidden":    {reason: "what admission refuses does not count", refuse: []error{apierrors.NewForbidden(resource, "crazy-botany", errBoom)}, asked: 1, again: true, told: true},
		"Invalid":      {reason: "nor does what validation refuses", refuse: []error{apierrors.NewInvalid(gardencorev1beta1.GroupVersion.WithKind("Shoot").GroupKind(), "crazy-botany", nil)}, asked: 1, again: true, told: true},
		"BadRequest":   {reason: "or the server does not understand", refuse: []error{apierrors.NewBadRequest("what?")}, asked: 1, again: true, told: true},
		"Gone":         {reason: "or has no shoot for", refuse: []error{apierrors.NewNotFound(resource, "crazy-botany")}, asked: 1, again: true, told: true},
		"Busy":         {reason: "or has no time for", refuse: []error{apierrors.NewTooManyRequests("busy", 1)}, asked: 1, again: true, told: true},
		"Unknown":      {reason: "what may have been written counts", refuse: []error{apierrors.NewTimeoutError("late", 1)}, asked: 1, used: 1, again: true, told: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, newShoot(of("CloudProfile", "local")), newProfile(), new(newSeed("a")))
			o.refuse = func() error {
				if len(tc.refuse) < o.asked {
					return nil
				}
				return tc.refuse[o.asked-1]
			}
			result, err := reconcile.AsReconciler(o.Client, o.Reconciler).Reconcile(t.Context(), crazyBotany())
			type outcome struct {
				Asked, Used int
				Again, Told bool
			}
			got := outcome{Asked: o.asked, Used: o.Picture.Used("a"), Again: err != nil || !result.IsZero(), Told: o.shoot(t).Status.LastOperation != nil}
			if diff := cmp.Diff(outcome{tc.asked, tc.used, tc.again, tc.told}, got); diff != "" {
				t.Errorf("%s\nReconcile(...) = %v, %v (-want +got):\n%s", tc.reason, result, err, diff)
			}
		})
	}
}

func TestPlacedMeanwhile_SCHED_SEL_2(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newShoot(of("CloudProfile", "local")), newProfile(), new(newSeed("a")))
	o.attempt(t)
	o.attempt(t)
	if o.asked != 1 {
		t.Errorf("The cache does not show the seed yet, but the binding was accepted.\n%d bindings, want 1", o.asked)
	}
	if event := <-o.events.Events; !strings.HasPrefix(event, `Normal SchedulingSuccessful Scheduled to seed "a"`) {
		t.Errorf("event %q, want the seed in it", event)
	}
}

func TestNotForUs_SCHED_SEL_1(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*shoot){
		"SCHED-SEL-1 placed":       func(s *shoot) { s.Spec.SeedName = new("a") },
		"SCHED-PROC-4 other":       func(s *shoot) { s.Spec.SchedulerName = new("other") },
		"SCHED-SEL-1 in deletion":  func(s *shoot) { s.DeletionTimestamp, s.Finalizers = new(metav1.Now()), []string{"test/held"} },
		"SCHED-SEL-1 without seed": func(s *shoot) { s.Spec.SchedulerName = new("") },
	} {
		want := 0
		if name == "SCHED-SEL-1 without seed" {
			want = 1
		}
		o := newOffice(t, newShoot(of("CloudProfile", "local"), change), newProfile(), new(newSeed("a")), new(newSeed("b")))
		if o.attempt(t); o.asked != want {
			t.Errorf("%s: %d bindings, want %d", name, o.asked, want)
		}
	}
}

// TestLeftMeanwhile_SCHED_SEL_2 has a shoot that somebody else takes while the scheduler binds what the cache shows.
func TestLeftMeanwhile_SCHED_SEL_2(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*shoot){
		"placed":      func(s *shoot) { s.Spec.SeedName = new("b") },
		"in deletion": func(s *shoot) { s.DeletionTimestamp, s.Finalizers = new(metav1.Now()), []string{"test/held"} },
	} {
		o := newOffice(t, newShoot(of("CloudProfile", "local")), newProfile(), new(newSeed("a")))
		o.Reader = fake.NewClientBuilder().WithScheme(kinds(t)).WithObjects(newShoot(of("CloudProfile", "local"), change)).Build()
		o.refuse = func() error {
			return apierrors.NewConflict(gardencorev1beta1.Resource("shoots"), "crazy-botany", errBoom)
		}
		if result := o.attempt(t); !result.IsZero() || o.asked != 1 {
			t.Errorf("%s: Reconcile(...) = %v after %d bindings, want it to end after one", name, result, o.asked)
		}
		if last := o.shoot(t).Status.LastOperation; last != nil || len(o.events.Events) > 0 {
			t.Errorf("%s: it is dropped without a word, got %+v and %d events", name, last, len(o.events.Events))
		}
	}
}
