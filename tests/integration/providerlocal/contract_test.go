// SPDX-License-Identifier: Apache-2.0

package providerlocal_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

type infrastructure = gardenextensionsv1alpha1.Infrastructure

// actor does what the test says, and keeps what it was asked.
type actor struct {
	mutex sync.Mutex
	// calls are the methods called for each object.
	calls map[string][]string
	// annotated reports whether the request was still on the object when it was acted on.
	annotated map[string]bool
	// answers are given in their order; success when there are none left.
	answers map[string][]error
}

func newActor() *actor {
	return &actor{calls: map[string][]string{}, annotated: map[string]bool{}, answers: map[string][]error{}}
}

func (a *actor) act(method string, object *infrastructure) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	key := object.Namespace + "/" + object.Name
	a.calls[key] = append(a.calls[key], method)
	a.annotated[key] = object.Annotations[gardencorev1beta1.AnnotationOperation] != ""
	object.Status.EgressCIDRs = []string{fmt.Sprintf("10.0.0.%d/32", len(a.calls[key]))}
	if answers := a.answers[key]; len(answers) > 0 {
		a.answers[key] = answers[1:]
		return answers[0]
	}
	return nil
}

// Reconcile counts.
func (a *actor) Reconcile(_ context.Context, object *infrastructure, _ *engine.Cluster) error {
	return a.act("Reconcile", object)
}

// Delete counts.
func (a *actor) Delete(_ context.Context, object *infrastructure, _ *engine.Cluster) error {
	return a.act("Delete", object)
}

// Migrate counts.
func (a *actor) Migrate(_ context.Context, object *infrastructure, _ *engine.Cluster) error {
	return a.act("Migrate", object)
}

func (a *actor) answer(object *infrastructure, answers ...error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.answers[object.Namespace+"/"+object.Name] = answers
}

func (a *actor) called(object *infrastructure) ([]string, bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	key := object.Namespace + "/" + object.Name
	return append([]string{}, a.calls[key]...), a.annotated[key]
}

// seed is a garden that serves the extension kinds, with the controllers under test.
type seed struct {
	client.Client

	actor   *actor
	garden  *harness.Garden
	applier deploy.Engine
}

func startSeed(t *testing.T) *seed {
	t.Helper()
	s := newSeed(t)
	access := engine.Access{Reader: s.Client, Seed: s.applier}
	queue := kit.Queue{Concurrency: 1, BaseDelay: 10 * time.Millisecond, MaxDelay: 50 * time.Millisecond}
	s.run(t,
		&engine.Reconciler[*infrastructure]{
			Name: "infrastructure", New: func() *infrastructure { return &infrastructure{} }, Finalizer: "extensions.gardener.cloud/infrastructure",
			Actor: s.actor, Base: kit.Base{Queue: queue},
		},
		&engine.Reconciler[*gardenextensionsv1alpha1.DNSRecord]{
			Name: "dnsrecord", New: func() *gardenextensionsv1alpha1.DNSRecord { return &gardenextensionsv1alpha1.DNSRecord{} },
			Finalizer: "extensions.gardener.cloud/dnsrecord", Actor: &dnsrecord.Actor{Access: access, Cloud: cloud.InSeed(access.Seed.Client)}, Base: kit.Base{Queue: queue},
		},
		&engine.Reconciler[*gardenextensionsv1alpha1.OperatingSystemConfig]{
			Name: "osc", New: func() *gardenextensionsv1alpha1.OperatingSystemConfig {
				return &gardenextensionsv1alpha1.OperatingSystemConfig{}
			},
			Finalizer: "extensions.gardener.cloud/operatingsystemconfigs", Actor: &operatingsystemconfig.Actor{Access: access}, Base: kit.Base{Queue: queue},
		},
	)
	return s
}

// newSeed is a garden that serves the extension kinds.
func newSeed(t *testing.T) *seed {
	t.Helper()
	garden := harness.Start(t)
	s := &seed{Client: garden.Client, actor: newActor(), garden: garden}
	s.applier = deploy.Engine{Client: garden.Client, Owner: "test", Clock: clock.RealClock{}}
	definitions, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.applier.Apply(t.Context(), definitions...); err != nil {
		t.Fatal(err)
	}
	if err := s.applier.WaitReady(t.Context(), definitions...); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs controllers until the function that it returns is called, or the test ends.
func (s *seed) run(t *testing.T, adders ...interface {
	AddToManager(mgr manager.Manager) error
},
) (stop func()) {
	t.Helper()
	mgr, err := ctrl.NewManager(s.garden.Config, ctrl.Options{Scheme: s.garden.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, adder := range adders {
		if err := adder.AddToManager(mgr); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// namespace makes a control-plane namespace with the Cluster object of a shoot.
func (s *seed) namespace(t *testing.T, name, shoot string) string {
	t.Helper()
	s.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Spec.Shoot = runtime.RawExtension{Raw: []byte(shoot)}
	cluster.Spec.CloudProfile = runtime.RawExtension{Raw: []byte(`{}`)}
	s.create(t, cluster)
	return name
}

func (s *seed) create(t *testing.T, object client.Object) {
	t.Helper()
	if err := s.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %q: %v", object, object.GetName(), err)
	}
}

// ask puts the operation on the object, as a gardenlet does.
func (s *seed) ask(t *testing.T, object client.Object, operation string) {
	t.Helper()
	before, _ := object.DeepCopyObject().(client.Object)
	object.SetAnnotations(map[string]string{gardencorev1beta1.AnnotationOperation: operation})
	if err := s.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// await waits until the last operation of the object has the type and state and no operation is asked for any more.
func (s *seed) await(t *testing.T, object *infrastructure, kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) *infrastructure {
	t.Helper()
	return harness.Await(t, s, object, fmt.Sprintf("%s of %q is %s", kind, object.Name, state), func(found *infrastructure) error {
		last := found.Status.LastOperation
		if last == nil || last.Type != kind || last.State != state || found.Annotations[gardencorev1beta1.AnnotationOperation] != "" {
			return fmt.Errorf("last operation is %+v, annotations are %v", last, found.Annotations)
		}
		return nil
	})
}

func newInfrastructure(namespace, name string) *infrastructure {
	i := &infrastructure{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	i.Spec.Type, i.Spec.Region, i.Spec.SecretRef = "local", "local", corev1.SecretReference{Name: "cloudprovider"}
	return i
}

func TestContract(t *testing.T) {
	t.Parallel()
	s := startSeed(t)
	plain := s.namespace(t, "shoot--dev--plain", `{}`)
	failed := s.namespace(t, "shoot--dev--failed", `{"status":{"lastOperation":{"state":"Failed"}}}`)

	t.Run("Life", func(t *testing.T) {
		t.Parallel()
		testLife(t, s, plain)
	})
	t.Run("Error", func(t *testing.T) {
		t.Parallel()
		testError(t, s, plain)
	})
	t.Run("Wait", func(t *testing.T) {
		t.Parallel()
		testWait(t, s, plain)
	})
	t.Run("Migration", func(t *testing.T) {
		t.Parallel()
		testMigration(t, s, plain)
	})
	t.Run("LeftAlone", func(t *testing.T) {
		t.Parallel()
		testLeftAlone(t, s, plain, failed)
	})
	t.Run("DNSRecord", func(t *testing.T) {
		t.Parallel()
		testDNSRecord(t, s, plain)
	})
	t.Run("OperatingSystemConfig", func(t *testing.T) {
		t.Parallel()
		testOperatingSystemConfig(t, s, plain)
	})
}

func testLife(t *testing.T, s *seed, namespace string) {
	t.Helper()
	object := newInfrastructure(namespace, "life")
	s.create(t, object)
	object = s.await(t, object, "Create", "Succeeded")
	if !controllerutil.ContainsFinalizer(object, "extensions.gardener.cloud/infrastructure") || object.Status.ObservedGeneration != object.Generation ||
		object.Status.LastOperation.Progress != 100 || object.Status.LastError != nil {
		t.Errorf("a created object is %+v with finalizers %v", object.Status, object.Finalizers)
	}
	if diff := cmp.Diff([]string{"10.0.0.1/32"}, object.Status.EgressCIDRs); diff != "" {
		t.Errorf("what the actor put into the status (-want +got):\n%s", diff)
	}

	before := object.DeepCopy()
	object.Spec.SSHPublicKey = []byte("key")
	if err := s.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.ask(t, object, gardencorev1beta1.OperationReconcile)
	object = s.await(t, object, "Reconcile", "Succeeded")
	calls, annotated := s.actor.called(object)
	if diff := cmp.Diff([]string{"Reconcile", "Reconcile"}, calls); diff != "" {
		t.Errorf("a changed spec alone starts nothing, the request does (-want +got):\n%s", diff)
	}
	if annotated {
		t.Error("the request was still there while it was acted on: one made meanwhile would be lost with it")
	}
	if object.Status.ObservedGeneration != 2 {
		t.Errorf("observed generation is %d, want 2", object.Status.ObservedGeneration)
	}

	if err := s.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	s.awaitGone(t, object)
	if calls, _ := s.actor.called(object); calls[len(calls)-1] != "Delete" {
		t.Errorf("calls are %q, want the last to be Delete", calls)
	}
}

func (s *seed) awaitGone(t *testing.T, object client.Object) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%T %q is gone", object, object.GetName()), func(ctx context.Context) error {
		err := s.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there, with finalizers %v: %w", object.GetFinalizers(), err)
	})
}

func testError(t *testing.T, s *seed, namespace string) {
	t.Helper()
	object := newInfrastructure(namespace, "error")
	hold := make([]error, 1000)
	for i := range hold {
		hold[i] = engine.ConfigurationProblem(errors.New("no such flavour"))
	}
	s.actor.answer(object, hold...)
	s.create(t, object)
	object = s.await(t, object, "Create", "Error")
	want := &gardencorev1beta1.LastError{Description: "No such flavour", Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}}
	got := object.Status.LastError.DeepCopy()
	got.LastUpdateTime = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("last error (-want +got):\n%s", diff)
	}
	if object.Status.LastOperation.Progress != 50 || object.Status.ObservedGeneration != object.Generation {
		t.Errorf("status of a failed run is %+v", object.Status)
	}
	s.actor.answer(object)
	object = s.await(t, object, "Create", "Succeeded")
	if object.Status.LastError != nil {
		t.Errorf("last error is %+v after a success that nobody asked for", object.Status.LastError)
	}
}

func testWait(t *testing.T, s *seed, namespace string) {
	t.Helper()
	object := newInfrastructure(namespace, "wait")
	waits := make([]error, 1000)
	for i := range waits {
		waits[i] = kit.Wait(10*time.Millisecond, "Waiting for better weather")
	}
	s.actor.answer(object, waits...)
	s.create(t, object)
	harness.Await(t, s, object, "the wait is told", func(found *infrastructure) error {
		if last := found.Status.LastOperation; last == nil || last.Description != "Waiting for better weather" || last.State != "Processing" || len(found.Status.EgressCIDRs) == 0 {
			return fmt.Errorf("status is %+v", found.Status)
		}
		return nil
	})
	s.actor.answer(object)
	s.await(t, object, "Create", "Succeeded")
}

func testMigration(t *testing.T, s *seed, namespace string) {
	t.Helper()
	object := newInfrastructure(namespace, "migration")
	s.create(t, object)
	object = s.await(t, object, "Create", "Succeeded")
	s.ask(t, object, gardencorev1beta1.OperationMigrate)
	object = s.await(t, object, "Migrate", "Succeeded")
	if len(object.Finalizers) != 0 {
		t.Errorf("finalizers are %v: a migrated object can go without being cleaned up", object.Finalizers)
	}
	s.ask(t, object, gardencorev1beta1.OperationRestore)
	object = s.await(t, object, "Restore", "Succeeded")
	calls, annotated := s.actor.called(object)
	if diff := cmp.Diff([]string{"Reconcile", "Migrate", "Reconcile"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !annotated || len(object.Finalizers) != 1 {
		t.Errorf("annotated %t, finalizers %v: the request to restore goes after success", annotated, object.Finalizers)
	}
}

// testLeftAlone: an object that is acted on comes last, so that those before it were looked at by then.
func testLeftAlone(t *testing.T, s *seed, plain, failed string) {
	t.Helper()
	other := newInfrastructure(plain, "other-type")
	other.Spec.Type = "other"
	waiting := newInfrastructure(plain, "waiting")
	waiting.Annotations = map[string]string{gardencorev1beta1.AnnotationOperation: gardencorev1beta1.OperationWaitForState}
	ofFailed := newInfrastructure(failed, "failed")
	alone := []*infrastructure{other, waiting, ofFailed}
	for _, object := range alone {
		s.create(t, object)
	}
	last := newInfrastructure(plain, "last")
	s.create(t, last)
	s.await(t, last, "Create", "Succeeded")
	for _, object := range alone {
		if calls, _ := s.actor.called(object); len(calls) != 0 {
			t.Errorf("%q was acted on: %q", object.Name, calls)
		}
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || object.Status.LastOperation != nil || len(object.Finalizers) != 0 {
			t.Errorf("%q is %+v with finalizers %v (%v), want it untouched", object.Name, object.Status, object.Finalizers, err)
		}
	}
}

func testDNSRecord(t *testing.T, s *seed, namespace string) {
	t.Helper()
	record := func(name, address string) *gardenextensionsv1alpha1.DNSRecord {
		r := &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		r.Spec.Type, r.Spec.Name, r.Spec.RecordType, r.Spec.Values = "local", name+".example", "A", []string{address}
		r.Spec.SecretRef = corev1.SecretReference{Name: "dns"}
		return r
	}
	first, second := record("first", "10.0.0.1"), record("second", "10.0.0.2")
	s.create(t, first)
	s.create(t, second)
	hosts := func(want string) {
		t.Helper()
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dns-records"}}
		harness.Await(t, s, configMap, "hosts file", func(found *corev1.ConfigMap) error {
			if diff := cmp.Diff(dnsrecord.Hosts(nil)+want, found.Data["hosts"]); diff != "" {
				return errors.New(diff)
			}
			return nil
		})
	}
	hosts("10.0.0.1\tfirst.example\n10.0.0.2\tsecond.example\n")
	found := harness.Await(t, s, second, "record is made", func(r *gardenextensionsv1alpha1.DNSRecord) error {
		if last := r.Status.LastOperation; last == nil || last.State != "Succeeded" {
			return fmt.Errorf("last operation is %+v", last)
		}
		return nil
	})
	if !kit.ConditionIs(found.Status.Conditions, "Created", gardencorev1beta1.ConditionTrue) || *found.Status.Zone != "local" {
		t.Errorf("status of a record is %+v", found.Status)
	}
	if err := s.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s.awaitGone(t, first)
	hosts("10.0.0.2\tsecond.example\n")
}

func testOperatingSystemConfig(t *testing.T, s *seed, namespace string) {
	t.Helper()
	s.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "certificates"}, Data: map[string][]byte{"ca.crt": []byte("ca")}})
	object := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool"}}
	object.Spec.Type, object.Spec.Purpose = "local", gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision
	object.Spec.Files = []gardenextensionsv1alpha1.File{{
		Path: "/ca.crt", Content: gardenextensionsv1alpha1.FileContent{SecretRef: &gardenextensionsv1alpha1.FileContentSecretRef{Name: "certificates", DataKey: "ca.crt"}},
	}}
	s.create(t, object)
	found := harness.Await(t, s, object, "user data is published", func(o *gardenextensionsv1alpha1.OperatingSystemConfig) error {
		if last := o.Status.LastOperation; last == nil || last.State != "Succeeded" {
			return fmt.Errorf("last operation is %+v", last)
		}
		return nil
	})
	want := &gardenextensionsv1alpha1.CloudConfig{SecretRef: corev1.SecretReference{Namespace: namespace, Name: "osc-result-pool"}}
	if diff := cmp.Diff(want, found.Status.CloudConfig); diff != "" {
		t.Errorf("cloud config (-want +got):\n%s", diff)
	}
	result := &corev1.Secret{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "osc-result-pool"}, result); err != nil {
		t.Fatal(err)
	}
	if len(result.Data["cloud_config"]) == 0 || !metav1.IsControlledBy(result, found) {
		t.Errorf("result has keys %v and owners %v", len(result.Data), result.OwnerReferences)
	}
	if err := s.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	s.awaitGone(t, object)
	s.awaitGone(t, result)
}
