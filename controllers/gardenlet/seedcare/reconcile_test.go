// SPDX-License-Identifier: Apache-2.0

package seedcare_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seedcare"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// definitions are those of a seed, as its API server reports them.
func definitions(t *testing.T, served bool) []client.Object {
	t.Helper()
	objects, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		definition, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("%T is not a definition", object)
		}
		if served {
			definition.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}, {Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
			}
		}
	}
	return objects
}

// summary returns a text for each condition of a seed, by type.
func summary(seed *gardencorev1beta1.Seed, say func(gardencorev1beta1.Condition) string) map[string]string {
	var all map[string]string
	for _, c := range seed.Status.Conditions {
		if all == nil {
			all = map[string]string{}
		}
		all[string(c.Type)] = say(c)
	}
	return all
}

func systemComponents(text string) map[string]string {
	return map[string]string{"SeedSystemComponentsHealthy": text}
}

// managedResource is one that nobody has reported about.
func managedResource(class *string) *gardenresourcesv1alpha1.ManagedResource {
	return &gardenresourcesv1alpha1.ManagedResource{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "system"}, Spec: gardenresourcesv1alpha1.ManagedResourceSpec{Class: class},
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	healthy := gardencorev1beta1.Condition{Type: "SeedSystemComponentsHealthy", Status: "True"}
	cases := map[string]struct {
		reason  string
		objects func(t *testing.T) []client.Object
		broken  error
		have    []gardencorev1beta1.Condition
		never   bool
		want    map[string]string
		message string
	}{
		"Healthy": {reason: "everything exists and is served", objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, true) }, want: systemComponents("True SystemComponentsRunning")},
		"Missing": {
			reason:  "what is missing is named",
			objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, true)[1:] },
			want:    systemComponents("False CustomResourceDefinitionMissing"), message: "backupbuckets.extensions.gardener.cloud",
		},
		"NotServed": {reason: "so is what exists and is not served", objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, false) }, want: systemComponents("False CustomResourceDefinitionUnhealthy"), message: "workers.extensions.gardener.cloud"},
		"ResourceManager": {
			reason: "a resource manager that was deployed and does not run is named", want: systemComponents("False DeploymentUnhealthy"), message: "gardener-resource-manager",
			objects: func(t *testing.T) []client.Object {
				t.Helper()
				inventory := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "inventory-gardener-resource-manager"}}
				inventory.Data = map[string]string{"objects": `[{"group":"apps","version":"v1","kind":"Deployment","namespace":"garden","name":"gardener-resource-manager"}]`}
				deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardener-resource-manager"}}
				return append(definitions(t, true), inventory, deployment)
			},
		},
		"ManagedResource": {
			reason: "a managed resource that nobody has reported about is named", want: systemComponents("False MissingManagedResourceCondition"), message: "system",
			objects: func(t *testing.T) []client.Object {
				t.Helper()
				return append(definitions(t, true), managedResource(new("seed")))
			},
		},
		"OfAGarden_SEEDCARE_1": {
			reason: "one without a class belongs to a garden that runs in the seed", want: systemComponents("True SystemComponentsRunning"),
			objects: func(t *testing.T) []client.Object {
				t.Helper()
				return append(definitions(t, true), managedResource(nil))
			},
		},
		"Threshold": {
			reason:  "a condition that was True waits for the threshold",
			objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, false) },
			have:    []gardencorev1beta1.Condition{healthy}, want: systemComponents("Progressing CustomResourceDefinitionUnhealthy"),
		},
		"Broken":   {reason: "a check that cannot be made says so", objects: func(*testing.T) []client.Object { return nil }, broken: boom, want: systemComponents("Unknown ConditionCheckError"), message: "boom"},
		"TooEarly": {reason: "nothing is judged before the first reconciliation", objects: func(*testing.T) []client.Object { return nil }, never: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
			object.Status.Conditions = tc.have
			if !tc.never {
				object.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
			}
			r := &seedcare.Reconciler{
				SeedBase: kit.SeedBase{
					GardenClient: fake.NewClientBuilder().WithScheme(s).WithObjects(object).WithStatusSubresource(object).Build(),
					SeedClient: fake.NewClientBuilder().WithScheme(s).WithObjects(tc.objects(t)...).WithInterceptorFuncs(interceptor.Funcs{
						Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
							if tc.broken != nil {
								return tc.broken
							}
							return c.Get(ctx, key, obj, opts...)
						},
					}).Build(),
					Clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
				},
				Config: &gardenconfigv1alpha1.SeedCareControllerConfiguration{
					SyncPeriod: &metav1.Duration{Duration: 30 * time.Second},
					ConditionThresholds: []gardenconfigv1alpha1.ConditionThreshold{
						{Type: string(gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy), Duration: metav1.Duration{Duration: time.Minute}},
					},
				},
			}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}})
			if err != nil {
				t.Fatalf("%s\nReconcile(...): %v", tc.reason, err)
			}
			if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, summary(object, func(c gardencorev1beta1.Condition) string { return string(c.Status) + " " + c.Reason })); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
			if want := kit.NextCheck(object.Status.Conditions, r.Clock.Now(), 30*time.Second); len(tc.want) > 0 && result.RequeueAfter != want {
				t.Errorf("%s\nnext check: got %s, want %s", tc.reason, result.RequeueAfter, want)
			}
			for _, c := range object.Status.Conditions {
				if !strings.Contains(c.Message, tc.message) {
					t.Errorf("%s\nmessage of condition: got %q, want %q in it", tc.reason, c.Message, tc.message)
				}
			}
		})
	}
}

// TestThreshold_GLET_THRESH_2: what has just been reconciled, or is bad for another reason than before, has the time of the threshold to become well.
func TestThreshold_GLET_THRESH_2(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	const reason = "CustomResourceDefinitionUnhealthy"
	for name, tc := range map[string]struct {
		have    gardencorev1beta1.Condition
		success time.Duration
		want    string
	}{
		"Long":      {have: gardencorev1beta1.Condition{Status: "False", Reason: reason}, success: time.Hour, want: "False"},
		"Recent":    {have: gardencorev1beta1.Condition{Status: "False", Reason: reason}, success: 30 * time.Second, want: "Progressing"},
		"Reason":    {have: gardencorev1beta1.Condition{Status: "False", Reason: "Other"}, success: time.Hour, want: "Progressing"},
		"StillSo":   {have: gardencorev1beta1.Condition{Status: "Progressing", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}, success: 30 * time.Second, want: "Progressing"},
		"Exhausted": {have: gardencorev1beta1.Condition{Status: "Progressing", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}, success: time.Hour, want: "False"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
			tc.have.Type = gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy
			object.Status.Conditions = []gardencorev1beta1.Condition{tc.have}
			object.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded", LastUpdateTime: metav1.NewTime(now.Add(-tc.success))}
			r := &seedcare.Reconciler{
				SeedBase: kit.SeedBase{
					GardenClient: fake.NewClientBuilder().WithScheme(s).WithObjects(object).WithStatusSubresource(object).Build(),
					SeedClient:   fake.NewClientBuilder().WithScheme(s).WithObjects(definitions(t, false)...).Build(),
					Clock:        clocktesting.NewFakeClock(now), SeedName: "one",
				},
				Config: &gardenconfigv1alpha1.SeedCareControllerConfiguration{
					SyncPeriod:          &metav1.Duration{Duration: 30 * time.Second},
					ConditionThresholds: []gardenconfigv1alpha1.ConditionThreshold{{Type: string(tc.have.Type), Duration: metav1.Duration{Duration: time.Minute}}},
				},
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}}); err != nil {
				t.Fatal(err)
			}
			if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
			want := systemComponents(tc.want + " " + reason)
			if diff := cmp.Diff(want, summary(object, func(c gardencorev1beta1.Condition) string { return string(c.Status) + " " + c.Reason })); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmergencyStopShows_GLET_SEED_13(t *testing.T) {
	t.Parallel()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
	r := &seedcare.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: fake.NewClientBuilder().WithScheme(s).WithObjects(object).WithStatusSubresource(object).Build(),
			SeedClient:   fake.NewClientBuilder().WithScheme(s).WithObjects(definitions(t, true)...).Build(),
			Clock:        clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
		},
		Config: &gardenconfigv1alpha1.SeedCareControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 30 * time.Second}},
	}
	stopped := map[string]string{"SeedSystemComponentsHealthy": "True", "EmergencyStopShootReconciliations": "True"}
	for _, step := range []struct {
		reason, value string
		want          map[string]string
	}{
		{reason: "nothing is stopped", want: systemComponents("True")},
		{reason: "an operator stops all operations", value: "true", want: stopped},
		{reason: "and allows them again", value: "false", want: systemComponents("True")},
	} {
		if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
			t.Fatal(err)
		}
		object.Annotations = map[string]string{"shoot.gardener.cloud/emergency-stop-reconciliations": step.value}
		if err := r.GardenClient.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}}); err != nil {
			t.Fatal(err)
		}
		if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, summary(object, func(c gardencorev1beta1.Condition) string { return string(c.Status) })); diff != "" {
			t.Errorf("%s\nconditions (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestStalePods sees that stale pods go in all namespaces but kube-system, and that they are not looked for in every check.
func TestStalePods(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	evicted := func(namespace, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u"}, Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}
	}
	clock := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).Build()
	inSeed := fake.NewClientBuilder().WithScheme(types).WithObjects(evicted("garden", "a"), evicted("kube-system", "a")).Build()
	r := &seedcare.Reconciler{
		SeedBase: kit.SeedBase{GardenClient: garden, GardenReader: garden, SeedClient: inSeed, SeedName: "eu-1", Clock: clock},
		Config:   &gardenconfigv1alpha1.SeedCareControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Minute}},
	}
	left := func() []string {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
		pods := &corev1.PodList{}
		if err := inSeed.List(t.Context(), pods); err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range pods.Items {
			names = append(names, pods.Items[i].Namespace+"/"+pods.Items[i].Name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"kube-system/a"}, left()); diff != "" {
		t.Errorf("GLET-SEEDCARE-5: pods that are left (-want +got):\n%s", diff)
	}
	if err := inSeed.Create(t.Context(), evicted("shoot--dev--a", "b")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kube-system/a", "shoot--dev--a/b"}, left()); diff != "" {
		t.Errorf("all pods are listed too often, left (-want +got):\n%s", diff)
	}
	clock.Step(5 * time.Minute)
	if diff := cmp.Diff([]string{"kube-system/a"}, left()); diff != "" {
		t.Errorf("GLET-SEEDCARE-5: pods that are left later (-want +got):\n%s", diff)
	}
}

// TestPeriod_GLET_SEEDCARE_4 checks with the defaults of the configuration: a seed that is well is looked at every 30 seconds.
func TestPeriod_GLET_SEEDCARE_4(t *testing.T) {
	t.Parallel()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
	r := &seedcare.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: fake.NewClientBuilder().WithScheme(s).WithObjects(object).WithStatusSubresource(object).Build(),
			SeedClient:   fake.NewClientBuilder().WithScheme(s).WithObjects(definitions(t, true)...).Build(),
			Clock:        clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
		},
		Config: config.Controllers.SeedCare,
	}
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}})
	if err != nil || result.RequeueAfter != 30*time.Second {
		t.Errorf("Reconcile(...): got %v, %v, want another check after 30s", result, err)
	}
}
