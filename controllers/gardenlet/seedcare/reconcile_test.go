// SPDX-License-Identifier: Apache-2.0

package seedcare_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seedcare"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// definitions are those of a seed, as its API server reports them.
func definitions(t *testing.T, served bool) []client.Object {
	t.Helper()
	objects, err := seed.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		definition, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("%T is no definition", object)
		}
		if served {
			definition.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}, {Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
			}
		}
	}
	return objects
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
		want    string
		message string
	}{
		"Healthy": {reason: "everything is there", objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, true) }, want: "True SystemComponentsRunning"},
		"Missing": {
			reason:  "what is missing is named",
			objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, true)[1:] },
			want:    "False CustomResourceDefinitionMissing", message: "backupbuckets.extensions.gardener.cloud",
		},
		"NotServed": {reason: "so is what is there and not served", objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, false) }, want: "False CustomResourceDefinitionUnhealthy", message: "workers.extensions.gardener.cloud"},
		"Threshold": {
			reason:  "what was good a moment ago is given time",
			objects: func(t *testing.T) []client.Object { t.Helper(); return definitions(t, false) },
			have:    []gardencorev1beta1.Condition{healthy}, want: "Progressing CustomResourceDefinitionUnhealthy",
		},
		"Broken":   {reason: "a check that cannot be made says so", objects: func(*testing.T) []client.Object { return nil }, broken: boom, want: "Unknown ConditionCheckError", message: "boom"},
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
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}}); err != nil {
				t.Fatalf("%s\nReconcile(...): %v", tc.reason, err)
			}
			if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
			if tc.want == "" {
				if len(object.Status.Conditions) != 0 {
					t.Errorf("%s\nconditions: got %v, want none", tc.reason, object.Status.Conditions)
				}
				return
			}
			c := object.Status.Conditions[0]
			if got := string(c.Status) + " " + c.Reason; got != tc.want || !strings.Contains(c.Message, tc.message) {
				t.Errorf("%s\ncondition: got %q with %q, want %q with %q", tc.reason, got, c.Message, tc.want, tc.message)
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
	for _, step := range []struct{ reason, value, want string }{
		{reason: "nothing is stopped", want: ""},
		{reason: "an operator stops everything", value: "true", want: "True"},
		{reason: "and lets go", value: "false", want: ""},
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
		got := ""
		for _, c := range object.Status.Conditions {
			if c.Type == "EmergencyStopShootReconciliations" {
				got = string(c.Status)
			}
		}
		if got != step.want {
			t.Errorf("%s: condition EmergencyStopShootReconciliations is %q, want %q", step.reason, got, step.want)
		}
	}
}
