// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// landscape is a garden and a seed without any running component.
type landscape struct {
	*shoot.Reconciler

	events *events.FakeRecorder
}

// kindsOfClusters are all kinds that are read or deleted in a cluster. The client of the tests would add those that are missing in the
// middle of a run, while others read them.
//
// Kinds of Kubernetes that are not stable are left out: a fake client goes over all kinds for each object that is applied, which is two
// fifths of the processor time of these tests.
func kindsOfClusters(t *testing.T) *runtime.Scheme {
	t.Helper()
	all, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	types := runtime.NewScheme()
	for kind, of := range all.AllKnownTypes() {
		stable := !strings.Contains(kind.Version, "alpha") && !strings.Contains(kind.Version, "beta")
		if stable || strings.HasSuffix(kind.Group, ".gardener.cloud") || kind.Group == gardenmachinev1alpha1.GroupName {
			object, _ := reflect.TypeAssert[runtime.Object](reflect.New(of))
			types.AddKnownTypeWithName(kind, object)
		}
	}
	snapshots := schema.GroupVersion{Group: "snapshot.storage.k8s.io", Version: "v1"}
	for _, kind := range []schema.GroupVersionKind{
		{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, snapshots.WithKind("VolumeSnapshot"), snapshots.WithKind("VolumeSnapshotContent"),
	} {
		types.AddKnownTypeWithName(kind, &metav1.PartialObjectMetadata{})
		types.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &metav1.PartialObjectMetadataList{})
	}

	return types
}

// newLandscape has everything that a shoot without workers needs.
func newLandscape(t *testing.T, s *gardencorev1beta1.Shoot, without ...string) *landscape {
	t.Helper()
	types := kindsOfClusters(t)
	vector, err := images.Load("")
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}
	seed.Status.Gardener = new(identity())
	seed.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "True"}, {Type: "SeedSystemComponentsHealthy", Status: "True"}}
	objs := []client.Object{
		s, seed,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"project.gardener.cloud/name": "dev"}}},
		&gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-identity"}, Data: map[string]string{"cluster-identity": "garden-1"}},
	}
	var kept []client.Object
	for _, obj := range objs {
		if len(without) == 0 || obj.GetName() != without[0] {
			kept = append(kept, obj)
		}
	}
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(kept...).WithStatusSubresource(s, seed).
		WithIndex(&gardencorev1beta1.ControllerInstallation{}, gardencorev1beta1.FieldSeedRefName, func(client.Object) []string { return nil }).
		WithIndex(&gardenoperationsv1alpha1.Bastion{}, gardenoperationsv1alpha1.FieldBastionSeedName, seedOfBastion).Build()
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	l := &landscape{events: events.NewFakeRecorder(100)}
	inSeed := fake.NewClientBuilder().WithScheme(types).Build()
	l.Reconciler = &shoot.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: garden, GardenReader: garden, SeedClient: inSeed, Shoots: &kit.Shoots{Seed: inSeed},
			Clock: clock.RealClock{}, Recorder: l.events, SeedName: "eu-1",
		},
		Identity: identity(), Images: vector, Config: config.Controllers.Shoot,
		IdentityTokenValidity: config.Controllers.TokenRequestorWorkloadIdentity.TokenExpirationDuration.Duration,
	}
	return l
}

// fresh is a shoot that was never reconciled.
func fresh(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := running(func(s *gardencorev1beta1.Shoot) {
		s.Status, s.Finalizers = gardencorev1beta1.ShootStatus{}, nil
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
		s.Spec.Provider.Type, s.Spec.Kubernetes.Version = "local", "1.36.3"
	})
	for _, change := range changes {
		change(s)
	}
	return s
}

func (l *landscape) pass(ctx context.Context) (reconcile.Result, error) {
	return l.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: "a"}})
}

func (l *landscape) shoot(t *testing.T) *gardencorev1beta1.Shoot {
	t.Helper()
	s := &gardencorev1beta1.Shoot{}
	if err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// told is the shoot in the Cluster object, or nil.
func (l *landscape) told(t *testing.T) *gardencorev1beta1.Shoot {
	t.Helper()
	c := &gardenextensionsv1alpha1.Cluster{}
	err := l.SeedClient.Get(t.Context(), client.ObjectKey{Name: "shoot--dev--a"}, c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(c.Spec.Shoot.Raw, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// toldProfile is the cloud profile in the Cluster object.
func (l *landscape) toldProfile(t *testing.T) *gardencorev1beta1.CloudProfile {
	t.Helper()
	c := &gardenextensionsv1alpha1.Cluster{}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Name: "shoot--dev--a"}, c); err != nil {
		t.Fatal(err)
	}
	p := &gardencorev1beta1.CloudProfile{}
	if err := json.Unmarshal(c.Spec.CloudProfile.Raw, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func taskIDs(s *gardencorev1beta1.Shoot) []string {
	var ids []string
	for _, e := range s.Status.LastErrors {
		ids = append(ids, *e.TaskID)
	}
	return ids
}

func TestWhatIsMissingBeforeTheFirstTask_GLET_STATUS_9_GLET_FLOW_9(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ without, want string }{
		"CloudProfile": {without: "local", want: `Get cloud profile "local": `},
		"Namespace":    {without: "garden-dev", want: `Get project namespace "garden-dev": `},
		"Identity":     {without: "cluster-identity", want: "Get identity of the garden: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh(), tc.without)
			synctest.Test(t, func(t *testing.T) { l.awaitsWhatItNeeds(t, tc.want) })
			s := l.shoot(t)
			if s.Status.LastOperation.State != "Error" || !strings.HasPrefix(s.Status.LastOperation.Description, tc.want) {
				t.Errorf("lastOperation = %+v, want state Error and %s…", s.Status.LastOperation, tc.want)
			}
			if diff := cmp.Diff([]string{"initializeOperation"}, taskIDs(s)); diff != "" {
				t.Errorf("lastErrors (-want +got):\n%s", diff)
			}
			if l.told(t) != nil {
				t.Error("extensions were told of an operation that did not begin")
			}
		})
	}
}

// awaitsWhatItNeeds makes passes until one fails, and sees that they try for ten minutes and show why.
func (l *landscape) awaitsWhatItNeeds(t *testing.T, want string) {
	t.Helper()
	begin := clock.RealClock{}.Now()
	result, err := l.pass(t.Context())
	s := l.shoot(t)
	if last := s.Status.LastOperation; last.State != "Processing" || last.Description != "Waiting until everything can be read that the operation needs" {
		t.Errorf("lastOperation = %+v, want that it waits", last)
	}
	if all := s.Status.LastErrors; len(all) != 1 || *all[0].TaskID != "initializeOperation" || !strings.HasPrefix(all[0].Description, strings.ToLower(want[:1])+want[1:]) {
		t.Errorf("lastErrors = %+v, want why it waits: %s", all, want)
	}
	passes := 1
	for ; err == nil && passes < 100; passes++ {
		<-clock.RealClock{}.After(result.RequeueAfter)
		result, err = l.pass(t.Context())
	}
	if err == nil {
		t.Error("Reconcile(...) returned no error, so nothing tries again")
	}
	if took := (clock.RealClock{}).Since(begin); took != 10*time.Minute || passes != 61 {
		t.Errorf("%d passes in %s, want one every 10s for 10m", passes, took)
	}
	if _, err := l.pass(t.Context()); err == nil {
		t.Error("the run waits again after it has failed, so the pauses between its attempts do not grow")
	}
}

func TestWhatIsReadLaterIsEnough_GLET_FLOW_9(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(withWorkers), "local")
	synctest.Test(t, func(t *testing.T) {
		result, err := l.pass(t.Context())
		if err != nil || result.RequeueAfter != 10*time.Second {
			t.Fatalf("Reconcile(...) = %v, %v, want another pass after 10s", result, err)
		}
		<-clock.RealClock{}.After(result.RequeueAfter)
		if err := l.GardenClient.Create(t.Context(), &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.pass(t.Context()); err != nil {
			t.Errorf("Reconcile(...) returned %v", err)
		}
	})
	s := l.shoot(t)
	if len(s.Status.LastErrors) != 0 || !strings.HasPrefix(s.Status.LastOperation.Description, "Waiting for extensions") || l.told(t) == nil {
		t.Errorf("lastOperation = %+v, lastErrors = %v, want that the run has begun", s.Status.LastOperation, s.Status.LastErrors)
	}
}

func TestSeedNotReady_GLET_SHOOT_8(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	l.Identity.ID = "another process"
	for range 2 {
		result, err := l.pass(t.Context())
		if err != nil || result.RequeueAfter != 15*time.Second {
			t.Errorf("Reconcile(...) = %v, %v, want another pass after 15 s", result, err)
		}
	}
	s := l.shoot(t)
	if s.Status.LastOperation.State != "Error" || s.Status.UID != "" || s.Status.RetryCycleStartTime != nil {
		t.Errorf("status = %+v, want state Error and no operation begun", s.Status)
	}
}

func TestMissingExtensions_GLET_FLOW_9(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(withWorkers))
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		result, err := l.pass(t.Context())
		waiting := `Waiting for extensions on seed "eu-1": ControlPlane/local, Infrastructure/local, Worker/local`
		if last := l.shoot(t).Status.LastOperation; last.State != "Processing" || last.Description != waiting {
			t.Errorf("lastOperation = %+v, want state Processing and %q", last, waiting)
		}
		if took := (clock.RealClock{}).Since(begin); took != 0 {
			t.Errorf("the pass itself waited for %s", took)
		}
		if result.RequeueAfter != 5*time.Second {
			t.Errorf("it is looked for extensions again after %s, want 5s", result.RequeueAfter)
		}
		for err == nil {
			<-clock.RealClock{}.After(result.RequeueAfter)
			result, err = l.pass(t.Context())
		}
		if took := (clock.RealClock{}).Since(begin); took != time.Minute {
			t.Errorf("extensions were awaited for %s, want a minute", took)
		}
		want := `extensions are missing or not healthy on seed "eu-1": ControlPlane/local, Infrastructure/local, Worker/local; ` +
			`register a ControllerRegistration for them or look at their ControllerInstallation`
		if err == nil || err.Error() != want {
			t.Errorf("Reconcile(...) = %v, want %s", err, want)
		}
	})
	if diff := cmp.Diff([]string{"required-extensions"}, taskIDs(l.shoot(t))); diff != "" {
		t.Errorf("lastErrors (-want +got):\n%s", diff)
	}
}

func TestFailedRunIsReported_GLET_STATUS_7_GLET_SHOOT_16_18(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	synctest.Test(t, func(t *testing.T) {
		if _, err := l.pass(t.Context()); err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
			t.Errorf("Reconcile(...) = %v, want an error that is tried again", err)
		}
	})
	s := l.shoot(t)
	// Nothing assigns an address to the Service of the API server or runs the stores.
	if diff := cmp.Diff([]string{"apiserver-service-wait", "etcd-events-wait", "etcd-main-wait"}, taskIDs(s)); diff != "" {
		t.Errorf("lastErrors (-want +got):\n%s", diff)
	}
	if want := `task "apiserver-service-wait" failed: not done within 5m0s: Service "kube-apiserver" is not ready: the load balancer has no address yet`; s.Status.LastErrors[0].Description != want {
		t.Errorf("description = %q, want %q", s.Status.LastErrors[0].Description, want)
	}
	if s.Status.LastOperation.State != "Error" || s.Status.LastOperation.Type != "Create" || s.Status.LastOperation.Progress == 0 {
		t.Errorf("lastOperation = %+v", s.Status.LastOperation)
	}
	want := []string{"shoot--dev--a", "uid-1", "eu-1", "shoot--dev--a-uid-1-garden-1"}
	if diff := cmp.Diff(want, []string{s.Status.TechnicalID, string(s.Status.UID), *s.Status.SeedName, *s.Status.ClusterIdentity}); diff != "" {
		t.Errorf("the identity of the shoot (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"gardener"}, s.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if told := l.told(t); told == nil || told.Status.LastOperation.State != "Processing" || told.Status.TechnicalID != "shoot--dev--a" {
		t.Error("the Cluster object was not written before the operation began")
	}
	var seen []string
	for range 2 {
		seen = append(seen, strings.Fields(<-l.events.Events)[1])
	}
	if diff := cmp.Diff([]string{"Reconciling", "ReconcileError"}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestOwnerHasToAct_GLET_STATUS_4_GLET_SHOOT_6(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) { s.Spec.CloudProfile.Kind = "Profile" }))
	_, err := l.pass(t.Context())
	if !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("Reconcile(...) = %v, want an error that is not tried again", err)
	}
	s := l.shoot(t)
	if s.Status.LastOperation.State != "Failed" || s.Status.LastErrors[0].Codes[0] != "ERR_CONFIGURATION_PROBLEM" {
		t.Errorf("lastOperation = %+v, lastErrors = %v", s.Status.LastOperation, s.Status.LastErrors)
	}
	if result, err := l.pass(t.Context()); err != nil || !result.IsZero() {
		t.Errorf("a second pass = %v, %v, want rest", result, err)
	}
}

func TestStoppedRunIsAborted(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := l.pass(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Reconcile(...) = %v, want the cause of the stop", err)
		}
	})
	s := l.shoot(t)
	if s.Status.LastOperation.State != "Aborted" || len(s.Status.LastErrors) != 0 {
		t.Errorf("lastOperation = %+v, lastErrors = %v, want Aborted without errors", s.Status.LastOperation, s.Status.LastErrors)
	}
}

func TestDeletionOfWhatIsNotThere_GLET_DEL_3(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) {
		s.Finalizers = []string{"gardener"}
		s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
	}))
	secret := &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a.ca-client"}}
	if err := l.GardenClient.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.pass(t.Context()); err != nil {
		t.Fatalf("Reconcile(...) returned %v", err)
	}
	for _, obj := range []client.Object{secret, &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}} {
		if err := l.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
			t.Errorf("%T %q is still in the garden: %v", obj, obj.GetName(), err)
		}
	}
	if l.told(t) != nil {
		t.Error("the Cluster object outlived the shoot")
	}
}

func TestNeverStartedShootIsReleased_GLET_SHOOT_17(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"gardener"} }))
	if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.pass(t.Context()); err != nil {
		t.Fatalf("Reconcile(...) returned %v", err)
	}
	err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the shoot is still there: %v", err)
	}
}

func TestIgnoredShootIsPending_GLET_SHOOT_10_15(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(annotated("shoot.gardener.cloud/ignore", "true")))
	l.Config.RespectSyncPeriodOverwrite = new(true)
	for range 2 {
		if result, err := l.pass(t.Context()); err != nil || !result.IsZero() {
			t.Fatalf("Reconcile(...) = %v, %v, want rest", result, err)
		}
	}
	if last := l.shoot(t).Status.LastOperation; last == nil || last.State != "Pending" {
		t.Errorf("lastOperation = %+v, want state Pending", last)
	}
}

func TestTaskIsTakenOutOfTheAnnotation_GLET_RECON_4(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		have, task string
		generation int64
		want       string
	}{
		"Done":    {reason: "its work is done", have: "deployInfrastructure, restartCoreAddons", task: "deployInfrastructure", generation: 3, want: "restartCoreAddons"},
		"Last":    {reason: "the last one takes the annotation along", have: "deployInfrastructure", task: "deployInfrastructure", generation: 3, want: ""},
		"Changed": {reason: "the shoot was changed meanwhile", have: "deployInfrastructure", task: "deployInfrastructure", generation: 4, want: "deployInfrastructure"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := running(annotated("shoot.gardener.cloud/tasks", tc.have))
			live := begun.DeepCopy()
			live.Generation = tc.generation
			l := newLandscape(t, live)
			if err := shoot.FinishTask(t.Context(), l.Reconciler, begun, tc.task); err != nil {
				t.Fatal(err)
			}
			if got := l.shoot(t).Annotations["shoot.gardener.cloud/tasks"]; got != tc.want {
				t.Errorf("%s\ntasks = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestHasteIsOver_GLET_RECON_5 ends runs of shoots that asked for haste at the start, or only after it.
func TestHasteIsOver_GLET_RECON_5(t *testing.T) {
	t.Parallel()
	const haste = "shoot.gardener.cloud/skip-readiness"
	for name, tc := range map[string]struct {
		reason      string
		begun, live *gardencorev1beta1.Shoot
		left        bool
	}{
		"Done":  {reason: "it is for one run", begun: running(annotated(haste, "")), live: running(annotated(haste, ""))},
		"Later": {reason: "it is for the next run", begun: running(), live: running(annotated(haste, "")), left: true},
		"Gone":  {reason: "somebody was faster", begun: running(annotated(haste, "")), live: running()},
	} {
		l := newLandscape(t, tc.live)
		if err := shoot.CalmDown(t.Context(), l.Reconciler, tc.begun); err != nil {
			t.Fatal(err)
		}
		if _, left := l.shoot(t).Annotations[haste]; left != tc.left {
			t.Errorf("%s: the annotation is left: %t: %s", name, left, tc.reason)
		}
	}
}

// meddler changes an object once, after another client has read it.
type meddler struct {
	client.Reader

	meddle func() error
}

func (m *meddler) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	if err := m.Reader.Get(ctx, key, obj, options...); err != nil {
		return err
	}
	meddle := m.meddle
	m.meddle = func() error { return nil }
	return meddle()
}

func TestTasksThatEndTogether_GLET_RECON_4(t *testing.T) {
	t.Parallel()
	begun := running(annotated("shoot.gardener.cloud/tasks", "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordIngress,restartCoreAddons"))
	l := newLandscape(t, begun.DeepCopy())
	other := &shoot.Reconciler{SeedBase: l.SeedBase}
	l.GardenReader = &meddler{Reader: l.GardenReader, meddle: func() error {
		return shoot.FinishTask(t.Context(), other, begun, "deployDNSRecordInternal")
	}}
	if err := shoot.FinishTask(t.Context(), l.Reconciler, begun, "deployInfrastructure"); err != nil {
		t.Fatalf("Who comes second tries again.\nFinishTask(...): %v", err)
	}
	if got, want := l.shoot(t).Annotations["shoot.gardener.cloud/tasks"], "deployDNSRecordIngress,restartCoreAddons"; got != want {
		t.Errorf("Both are done.\ntasks = %q, want %q", got, want)
	}
	if err := shoot.FinishRecords(t.Context(), l.Reconciler, begun); err != nil {
		t.Fatal(err)
	}
	if got, want := l.shoot(t).Annotations["shoot.gardener.cloud/tasks"], "restartCoreAddons"; got != want {
		t.Errorf("A record that the shoot does not have is nothing to wait for.\ntasks = %q, want %q", got, want)
	}
}
