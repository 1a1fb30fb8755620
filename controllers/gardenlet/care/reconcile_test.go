// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ward is a shoot that is checked.
type ward struct {
	*care.Reconciler

	clock  *clocktesting.FakeClock
	status int
	err    error
	writes int
	// inShoot is the cluster, and broken what is wrong with the tunnel into it.
	inShoot client.Client
	broken  error
	// slow delays the answer of the API server; it may be nil.
	slow func(ctx context.Context)
}

// healthz is the answer of the API server.
func (w *ward) healthz(ctx context.Context) (int, error) {
	if w.slow != nil {
		w.slow(ctx)
	}
	return w.status, w.err
}

func newWard(t *testing.T, s *gardencorev1beta1.Shoot, inSeed ...client.Object) *ward {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &ward{status: 200, clock: clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			w.writes++
			return c.SubResource(name).Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	n := node(corev1.ConditionTrue)
	w.inShoot = fake.NewClientBuilder().WithScheme(types).WithObjects(&n, tunnelPod()).Build()
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build()
	w.Reconciler = &care.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: garden, GardenReader: garden, SeedName: "eu-1", Clock: w.clock,
			SeedClient: seed,
			Shoots: &kit.Shoots{Seed: seed, Connect: func([]byte) (*kit.Shoot, error) {
				return &kit.Shoot{
					Client: w.inShoot, Healthz: w.healthz, Try: func(context.Context, string) error { return w.broken },
				}, nil
			}},
		},
		Config: &gardenconfigv1alpha1.ShootCareControllerConfiguration{
			SyncPeriod:          &metav1.Duration{Duration: time.Minute},
			ConditionThresholds: []gardenconfigv1alpha1.ConditionThreshold{{Type: "APIServerAvailable", Duration: metav1.Duration{Duration: 2 * time.Minute}}},
		},
	}
	return w
}

func tunnelPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "konnectivity-agent-0", Labels: map[string]string{"type": "tunnel"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func controlPlane() []client.Object {
	w := healthy()
	objs := []client.Object{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "gardener"}, Data: map[string][]byte{"kubeconfig": []byte("k")}}}
	for i := range w.Deployments {
		objs = append(objs, &w.Deployments[i])
	}
	for i := range w.StatefulSets {
		objs = append(objs, &w.StatefulSets[i])
	}
	return objs
}

// look makes a check and returns the conditions as type=status reason.
func (w *ward) look(t *testing.T) []string {
	t.Helper()
	key := client.ObjectKey{Namespace: "garden-dev", Name: "a"}
	result, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	if err != nil {
		t.Fatalf("Reconcile(...): %v", err)
	}
	live := &gardencorev1beta1.Shoot{}
	if err := w.GardenClient.Get(t.Context(), key, live); err != nil {
		t.Fatal(err)
	}
	if want := kit.NextCheck(live.Status.Conditions, w.Clock.Now(), time.Minute); result.RequeueAfter != want {
		t.Fatalf("another check after %s, want one after %s", result.RequeueAfter, want)
	}
	var lines []string
	for _, c := range live.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return lines
}

func TestConditionsHoldStill_GLET_CARE_1_4(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	want := []string{"APIServerAvailable=True HealthzRequestSucceeded", "ControlPlaneHealthy=True ControlPlaneRunning", "SystemComponentsHealthy=True SystemComponentsRunning", "EveryNodeReady=True EveryNodeReady", "ObservabilityComponentsHealthy=True ObservabilityComponentsRunning"}
	for range 3 {
		if diff := gocmp.Diff(want, w.look(t)); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
		w.clock.Step(time.Minute)
	}
	if w.writes != 1 {
		t.Errorf("three equal findings were written %d times, want once", w.writes)
	}
}

func TestTunnel_GLET_CARE_11(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	system := func(want string) {
		t.Helper()
		w.clock.Step(time.Minute)
		if got := w.look(t)[2]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	system("SystemComponentsHealthy=True SystemComponentsRunning")
	for id := range 3 {
		w.broken = fmt.Errorf("dial %d failed", id)
		system("SystemComponentsHealthy=False TunnelConnectionBroken")
	}
	if w.writes != 2 {
		t.Errorf("the same fault with other words from the API server was written %d times, want once", w.writes-1)
	}
	if err := w.inShoot.Delete(t.Context(), tunnelPod()); err != nil {
		t.Fatal(err)
	}
	system("SystemComponentsHealthy=False NoTunnelDeployed")
	n := node(corev1.ConditionTrue)
	if err := w.inShoot.Delete(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	system("SystemComponentsHealthy=True SystemComponentsRunning")
}

func TestThreshold_GLET_THRESH_1(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	w.look(t)
	w.status, w.err = 0, errors.New("refused")
	var got []string
	for range 5 {
		w.clock.Step(time.Minute)
		got = append(got, w.look(t)[0])
	}
	want := []string{
		"APIServerAvailable=Progressing HealthzRequestError", "APIServerAvailable=Progressing HealthzRequestError", "APIServerAvailable=Progressing HealthzRequestError",
		"APIServerAvailable=False HealthzRequestError", "APIServerAvailable=False HealthzRequestError",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("an API server that stays away, minute by minute (-want +got):\n%s", diff)
	}
}

// TestThreshold_GLET_THRESH_2 has a threshold of two minutes for an API server that is bad since long ago.
func TestThreshold_GLET_THRESH_2(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason    string
		status    gardencorev1beta1.ConditionStatus
		because   string
		succeeded time.Duration
		want      gardencorev1beta1.ConditionStatus
	}{
		"bad":                      {"it stays as it is", "False", "HealthzRequestError", time.Hour, "False"},
		"bad, recently reconciled": {"a reconciliation may mend it", "False", "HealthzRequestError", time.Minute, "Progressing"},
		"bad otherwise":            {"this is something new", "False", "HealthzRequestFailed", time.Hour, "Progressing"},
		"progressing for long":     {"its time is over", "Progressing", "HealthzRequestError", time.Hour, "False"},
		"progressing, recently":    {"unless a reconciliation has only just ended", "Progressing", "HealthzRequestError", 2*time.Minute - time.Second, "Progressing"},
		"progressing, not so":      {"for less than the threshold", "Progressing", "HealthzRequestError", 2 * time.Minute, "False"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t, shoot(func(s *gardencorev1beta1.Shoot) {
				s.Status.LastOperation.LastUpdateTime = metav1.NewTime(now.Add(-tc.succeeded))
				s.Status.Conditions = []gardencorev1beta1.Condition{{
					Type: "APIServerAvailable", Status: tc.status, Reason: tc.because, LastTransitionTime: metav1.NewTime(now.Add(-24 * time.Hour)),
				}}
			}), controlPlane()...)
			w.status, w.err = 0, errors.New("refused")
			if got, want := w.look(t)[0], fmt.Sprintf("APIServerAvailable=%s HealthzRequestError", tc.want); got != want {
				t.Errorf("%s: %s, want %s", tc.reason, got, want)
			}
		})
	}
}

func TestNothingThere_GLET_CARE_6(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot())
	want := []string{"APIServerAvailable=False APIServerDown", "ControlPlaneHealthy=False EtcdMissing", "SystemComponentsHealthy=Unknown APIServerDown", "EveryNodeReady=Unknown APIServerDown", "ObservabilityComponentsHealthy=True ObservabilityComponentsRunning"}
	if diff := gocmp.Diff(want, w.look(t)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

// TestNoClient_GLET_CARE_6 has an access to a shoot of which no client can be made: this is told, and what does not need it is judged.
func TestNoClient_GLET_CARE_6(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	w.Shoots.Connect = nil
	want := []string{"APIServerAvailable=False APIServerDown", "ControlPlaneHealthy=True ControlPlaneRunning", "SystemComponentsHealthy=Unknown APIServerDown", "EveryNodeReady=Unknown APIServerDown", "ObservabilityComponentsHealthy=True ObservabilityComponentsRunning"}
	if diff := gocmp.Diff(want, w.look(t)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	live := shoot()
	if err := w.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	if got := live.Status.Conditions[0].Message; !strings.Contains(got, "read kubeconfig") {
		t.Errorf("message %q, want one that says why", got)
	}
}

func TestWorkerlessShootHasNoNodeCondition_GLET_CARE_4(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }), controlPlane()...)
	want := []string{"APIServerAvailable=True HealthzRequestSucceeded", "ControlPlaneHealthy=True ControlPlaneRunning", "SystemComponentsHealthy=True SystemComponentsRunning", "ObservabilityComponentsHealthy=True ObservabilityComponentsRunning"}
	if diff := gocmp.Diff(want, w.look(t)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestOtherConditionsStay_GLET_CARE_3(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(func(s *gardencorev1beta1.Shoot) {
		s.Status.Conditions = []gardencorev1beta1.Condition{{Type: "Custom", Status: "True", Reason: "Theirs"}}
	}), controlPlane()...)
	if got := w.look(t); got[0] != "Custom=True Theirs" || len(got) != 6 {
		t.Errorf("a condition of another writer was lost: %v", got)
	}
}

func TestSleeping(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*gardencorev1beta1.Shoot){
		"falls asleep": func(s *gardencorev1beta1.Shoot) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		},
		"wakes up": func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shoot()
			change(s)
			w := newWard(t, s)
			w.err = errors.New("nobody answers")
			if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
				t.Fatal(err)
			}
			if err := w.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
				t.Fatal(err)
			}
			if len(s.Status.Conditions) == 0 {
				t.Error("GLET-CARE-5: there are no conditions")
			}
			for _, c := range s.Status.Conditions {
				if c.Status != gardencorev1beta1.ConditionTrue || c.Reason != "ConditionNotChecked" {
					t.Errorf("GLET-CARE-5: %s is %s (%s), want True (ConditionNotChecked)", c.Type, c.Status, c.Reason)
				}
			}
		})
	}
}

// TestManagedResources sees for which condition a managed resource counts.
func TestManagedResources(t *testing.T) {
	t.Parallel()
	const well, ill = "=True", "=False MissingManagedResourceCondition"
	for name, tc := range map[string]struct {
		reason        string
		class         *string
		label         string
		plane, system string
		// observes is how the observability components are, if not well.
		observes         string
		ignored, testing bool
	}{
		"GLET-CARE-8 seed":       {reason: "its objects are in the seed", class: new("seed"), plane: ill, system: well},
		"GLET-CARE-11 shoot":     {reason: "its objects are in the shoot", plane: well, system: ill},
		"GLET-CARE-11 default":   {reason: "so are those of the default class", class: new("resources"), plane: well, system: ill},
		"GLET-CARE-8 labelled":   {reason: "a label decides", label: "ControlPlaneHealthy", plane: ill, system: well},
		"GLET-CARE-11 labelled":  {reason: "in both ways", class: new("seed"), label: "SystemComponentsHealthy", plane: well, system: ill},
		"GLET-CARE-10 labelled":  {reason: "it is about neither", label: "ObservabilityComponentsHealthy", plane: well, system: well, observes: ill},
		"GLET-CARE-10 testing":   {reason: "a shoot for testing needs none", label: "ObservabilityComponentsHealthy", plane: well, system: well, testing: true},
		"GLET-CARE-11 elsewhere": {reason: "another resource manager looks after it", class: new("mine"), plane: well, system: well},
		"GLET-CARE-11 ignored":   {reason: "nobody looks after it", ignored: true, plane: well, system: well},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a", Labels: map[string]string{}}}
			r.Spec.Class = tc.class
			if tc.label != "" {
				r.Labels["care.gardener.cloud/condition-type"] = tc.label
			}
			if tc.ignored {
				r.Annotations = map[string]string{"resources.gardener.cloud/ignore": "true"}
			}
			s := shoot()
			if tc.testing {
				s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
			}
			got := newWard(t, s, append(controlPlane(), r)...).look(t)
			if want := cmp.Or(tc.observes, well); !strings.HasPrefix(got[4], "ObservabilityComponentsHealthy"+want) {
				t.Errorf("%s: condition %s, want %s", tc.reason, got[4], want)
			}
			if !strings.HasPrefix(got[1], "ControlPlaneHealthy"+tc.plane) || !strings.HasPrefix(got[2], "SystemComponentsHealthy"+tc.system) {
				t.Errorf("%s: conditions %v, want %s and %s", tc.reason, got, tc.plane, tc.system)
			}
		})
	}
}

// TestSilentExtension sees that a report does not count any more when its extension sends no heartbeats, and does again when it comes back.
func TestSilentExtension_GLET_CARE_16(t *testing.T) {
	t.Parallel()
	worker := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a"}}
	worker.Spec.Type = "cloud"
	worker.Status.Conditions = []gardencorev1beta1.Condition{{Type: "EveryNodeReady", Status: "True"}}
	addOn := &gardenextensionsv1alpha1.Extension{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "extra"}}
	addOn.Spec.Type = "extra"
	addOn.Status.Conditions = []gardencorev1beta1.Condition{{Type: "ControlPlaneHealthy", Status: "True"}}
	w := newWard(t, shoot(), append(controlPlane(), worker, addOn)...)
	w.Config.StaleExtensionHealthChecks = &gardenconfigv1alpha1.StaleExtensionHealthChecks{Enabled: true, Threshold: &metav1.Duration{Duration: 5 * time.Minute}}
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "cloud-x"}}
	installation.Spec.RegistrationRef.Name, installation.Spec.SeedRef = "cloud", &corev1.ObjectReference{Name: "eu-1"}
	elsewhere := installation.DeepCopy()
	elsewhere.Name, elsewhere.Spec.SeedRef.Name = "cloud-y", "us-1"
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}}
	registration.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "cloud"}, {Kind: "Extension", Type: "extra"}}
	beat := func(namespace string) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gardener-extension-heartbeat"},
			Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(w.clock.Now()))},
		}
	}
	const good, stale = "EveryNodeReady=True EveryNodeReady", "EveryNodeReady=Unknown WorkerOutdatedHealthCheckReport"
	says := func(when, want string) {
		t.Helper()
		if got := w.look(t)[3]; got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	says("an extension that nobody has installed sends none", good)
	for _, obj := range []client.Object{installation, elsewhere, registration} {
		if err := w.GardenClient.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Step(time.Minute)
	says("one that never sent any", stale)
	if got, want := w.look(t), "ControlPlaneHealthy=Unknown ExtensionOutdatedHealthCheckReport"; !slices.Contains(got, want) {
		t.Errorf("EXT-HEALTH-3: an add-on counts like other kinds: %v, want %s", got, want)
	}
	if err := w.SeedClient.Create(t.Context(), beat("extension-cloud-x")); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(time.Minute)
	says("one that has sent one", good)
	w.clock.Step(4 * time.Minute)
	says("one that sent the last just in time", good)
	w.clock.Step(time.Minute)
	if err := w.SeedClient.Create(t.Context(), beat("extension-cloud-y")); err != nil {
		t.Fatal(err)
	}
	says("one that is silent", stale)
	lease := beat("extension-cloud-x")
	if err := w.SeedClient.Delete(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	lease.ResourceVersion = ""
	if err := w.SeedClient.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(time.Minute)
	says("one that has come back", good)
	w.Config.StaleExtensionHealthChecks.Enabled = false
	w.clock.Step(time.Hour)
	says("nobody asks for heartbeats", good)
}

// TestIndependent sees that what cannot be tidied up is in the way of no check.
func TestIndependent_GLET_CARE_2(t *testing.T) {
	t.Parallel()
	evicted := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "evicted", UID: "u"}, Status: corev1.PodStatus{Reason: "Evicted"}}
	w := newWard(t, shoot(), append(controlPlane(), evicted)...)
	seed, isWatching := w.SeedClient.(client.WithWatch)
	if !isWatching {
		t.Fatal("the seed cannot be watched")
	}
	w.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return errors.New("boom")
		},
	})
	if got := w.look(t); got[0] != "APIServerAvailable=True HealthzRequestSucceeded" {
		t.Errorf("conditions %v", got)
	}
}

// TestUnreadable sees that what cannot be read of the seed leaves all parts alone that do not need it.
func TestUnreadable_GLET_CARE_2(t *testing.T) {
	t.Parallel()
	const unknown, good = "=Unknown ConditionCheckError", "=True NoProblematicWebhooks"
	for reason, tc := range map[string]struct {
		broken            client.ObjectList
		condition, forced string
	}{
		"the workloads":         {broken: &appsv1.DeploymentList{}, condition: unknown, forced: good},
		"the managed resources": {broken: &gardenresourcesv1alpha1.ManagedResourceList{}, condition: unknown, forced: good},
		"the authorities":       {broken: &metav1.PartialObjectMetadataList{}, condition: "=True ControlPlaneRunning", forced: good},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			evicted := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "evicted", UID: "u"}, Status: corev1.PodStatus{Reason: "Evicted"}}
			inside := evicted.DeepCopy()
			inside.Namespace = "kube-system"
			w := newWard(t, shoot(), append(controlPlane(), evicted)...)
			if err := w.inShoot.Create(t.Context(), inside); err != nil {
				t.Fatal(err)
			}
			w.intercept(t, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if reflect.TypeOf(list) == reflect.TypeOf(tc.broken) && !isPods(list) {
					return errors.New("boom")
				}
				return c.List(ctx, list, opts...)
			}})
			if got := w.look(t); !strings.HasSuffix(got[1], tc.condition) {
				t.Errorf("conditions %v, want %q", got, tc.condition)
			}
			if got := w.constraints(t); len(got) != 2 || !strings.HasSuffix(got[0], tc.forced) {
				t.Errorf("constraints %v, want %q", got, tc.forced)
			}
			for where, c := range map[string]client.Client{"control plane": w.SeedClient, "shoot": w.inShoot} {
				pods := &corev1.PodList{}
				if err := c.List(t.Context(), pods); err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == "evicted" }) {
					t.Errorf("the stale pod of the %s is still there", where)
				}
			}
		})
	}
}

// isPods reports whether a list is one of the metadata of pods.
func isPods(list client.ObjectList) bool {
	return strings.HasPrefix(list.GetObjectKind().GroupVersionKind().Kind, "Pod")
}

// TestSlowShoot sees that an API server that takes its time keeps no stale pods in its control plane.
func TestSlowShoot_GLET_CARE_2(t *testing.T) {
	t.Parallel()
	evicted := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "evicted", UID: "u"}, Status: corev1.PodStatus{Reason: "Evicted"}}
	w := newWard(t, shoot(), append(controlPlane(), evicted)...)
	collected := make(chan struct{})
	w.intercept(t, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
		defer close(collected)
		return c.Delete(ctx, object, opts...)
	}})
	w.slow = func(ctx context.Context) {
		select {
		case <-collected:
		case <-ctx.Done():
			t.Error("the API server has taken all the time, and the stale pod is still there")
		}
	}
	if got := w.look(t); got[0] != "APIServerAvailable=True HealthzRequestSucceeded" {
		t.Errorf("conditions %v", got)
	}
}

// intercept puts functions before the client of the seed.
func (w *ward) intercept(t *testing.T, funcs interceptor.Funcs) {
	t.Helper()
	seed, isWatching := w.SeedClient.(client.WithWatch)
	if !isWatching {
		t.Fatal("the seed cannot be watched")
	}
	w.SeedClient = interceptor.NewClient(seed, funcs)
}

// TestUncheckable sees that what could not be looked at is not said to be well, nor to be about to become bad: a threshold is for what was found.
func TestUncheckable_GLET_CARE_3(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	w.look(t)
	w.Shoots.Kubeconfig = func(context.Context, string) ([]byte, error) { return nil, errors.New("boom") }
	got := append(w.look(t), w.constraints(t)...)
	for _, line := range got {
		if !strings.HasSuffix(line, "=Unknown ConditionCheckError") {
			t.Errorf("%s, want Unknown", line)
		}
	}
	if len(got) != 7 {
		t.Errorf("conditions and constraints %v, want seven", got)
	}
}
