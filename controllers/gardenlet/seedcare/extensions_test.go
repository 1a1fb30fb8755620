// SPDX-License-Identifier: Apache-2.0

package seedcare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seedcare"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestExtensions_EXT_HEALTH_2 looks at an extension that the seed has for itself. The registration lets
// it take five.
func TestExtensions_EXT_HEALTH_2(t *testing.T) {
	t.Parallel()
	now := time.Unix(10000, 0).UTC()
	asked := func(ago time.Duration, change ...func(x *gardenextensionsv1alpha1.Extension)) *gardenextensionsv1alpha1.Extension {
		x := &gardenextensionsv1alpha1.Extension{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "greeting", Annotations: map[string]string{
			"gardener.cloud/timestamp": now.Add(-ago).Format(time.RFC3339Nano),
		}}}
		x.Spec.Type, x.Spec.Class = "greeting", new(gardenextensionsv1alpha1.ExtensionClassSeed)
		x.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.NewTime(now)}
		for _, c := range change {
			c(x)
		}
		return x
	}
	working := func(x *gardenextensionsv1alpha1.Extension) {
		x.Status.LastOperation.State, x.Status.LastOperation.Description = gardencorev1beta1.LastOperationStateProcessing, "Writing"
	}
	report := func(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) func(x *gardenextensionsv1alpha1.Extension) {
		return func(x *gardenextensionsv1alpha1.Extension) {
			x.Status.Conditions = []gardencorev1beta1.Condition{{
				Type: kind, Status: status, Reason: "Hoarse", Message: "no voice", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraDependencies},
			}}
		}
	}
	const of = gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy
	cases := map[string]struct {
		reason  string
		object  *gardenextensionsv1alpha1.Extension
		want    string
		message string
		codes   []gardencorev1beta1.ErrorCode
	}{
		"Content":  {reason: "it has done what it was asked for", object: asked(2 * time.Minute), want: "True SystemComponentsRunning"},
		"Absent":   {reason: "what the Seed asks for does not exist", want: "False ExtensionMissing", message: `Extension "greeting" does not exist in the seed`},
		"OthersOf": {reason: "objects of other classes do not count", object: asked(0, func(x *gardenextensionsv1alpha1.Extension) { x.Spec.Class = nil }), want: "False ExtensionMissing"},
		"Busy":     {reason: "it has time to act", object: asked(4*time.Minute, working), want: "True SystemComponentsRunning"},
		"Late":     {reason: "the time is over", object: asked(6*time.Minute, working), want: "False ExtensionNotReady", message: "state Processing: Writing"},
		"Failed": {
			reason: "what it cannot do is said at once, with its codes", want: "False ExtensionNotReady", message: "reports: no paper",
			object: asked(time.Second, func(x *gardenextensionsv1alpha1.Extension) {
				x.Status.LastError = &gardencorev1beta1.LastError{Description: "no paper", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem}}
			}),
			codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
		},
		"Unhealthy": {
			reason: "its report decides", object: asked(time.Minute, report(of, gardencorev1beta1.ConditionFalse)), want: "False ExtensionUnhealthyReport",
			message: `Extension "garden/greeting" reports: no voice`, codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraDependencies},
		},
		"Progressing": {
			reason: "so does one of progress", object: asked(time.Minute, report(of, gardencorev1beta1.ConditionProgressing)), want: "Progressing ExtensionHoarse",
			codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraDependencies},
		},
		"Elsewhere": {
			reason: "one about another condition does not", object: asked(time.Minute, report("ControlPlaneHealthy", gardencorev1beta1.ConditionFalse)),
			want: "True SystemComponentsRunning",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
			object.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "greeting"}}
			object.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
			registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "greeting"}}
			registration.Spec.Resources = []gardencorev1beta1.ControllerResource{{
				Kind: "Extension", Type: "greeting", ReconcileTimeout: &metav1.Duration{Duration: 5 * time.Minute}, ClusterCompatibility: []gardencorev1beta1.ClusterType{"seed"},
			}}
			inSeed := definitions(t, true)
			if tc.object != nil {
				inSeed = append(inSeed, tc.object)
			}
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(object, registration).WithStatusSubresource(object).Build()
			r := &seedcare.Reconciler{
				SeedBase: kit.SeedBase{
					GardenClient: garden, GardenReader: garden, SeedName: "one", Clock: clocktesting.NewFakeClock(now),
					SeedClient: fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build(),
				},
				Config: &gardenconfigv1alpha1.SeedCareControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 30 * time.Second}},
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}}); err != nil {
				t.Fatal(err)
			}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(systemComponents(tc.want), summary(object, func(c gardencorev1beta1.Condition) string { return string(c.Status) + " " + c.Reason })); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
			for _, c := range object.Status.Conditions {
				if !strings.Contains(c.Message, tc.message) || !cmp.Equal(tc.codes, c.Codes) {
					t.Errorf("%s\ngot %q with codes %v, want %q with %v", tc.reason, c.Message, c.Codes, tc.message, tc.codes)
				}
			}
		})
	}
}

// TestSilentExtension_EXT_HEALTH_3 sees that what an extension says about the seed does not count any more when it sends no heartbeats.
func TestSilentExtension_EXT_HEALTH_3(t *testing.T) {
	t.Parallel()
	now := time.Unix(10000, 0).UTC()
	beat := func(ago time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "extension-greeting-x", Name: "gardener-extension-heartbeat"},
			Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(now.Add(-ago)))},
		}
	}
	within := &gardenconfigv1alpha1.StaleExtensionHealthChecks{Enabled: true, Threshold: &metav1.Duration{Duration: 5 * time.Minute}}
	const stale, well = "Unknown ExtensionOutdatedHealthCheckReport", "True SystemComponentsRunning"
	for reason, tc := range map[string]struct {
		beat   *coordinationv1.Lease
		checks *gardenconfigv1alpha1.StaleExtensionHealthChecks
		quiet  bool
		want   string
	}{
		"it is heard of":                     {beat: beat(5 * time.Minute), checks: within, want: well},
		"it is silent":                       {beat: beat(6 * time.Minute), checks: within, want: stale},
		"it was never heard of":              {checks: within, want: stale},
		"it has never reported anything":     {checks: within, quiet: true, want: well},
		"nobody asks":                        {beat: beat(time.Hour), want: well},
		"the operator does not want to know": {beat: beat(time.Hour), checks: &gardenconfigv1alpha1.StaleExtensionHealthChecks{Threshold: within.Threshold}, want: well},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
			object.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
			registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "greeting"}}
			registration.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "greeting"}}
			installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "greeting-x"}}
			installation.Spec.RegistrationRef.Name, installation.Spec.SeedRef = "greeting", &corev1.ObjectReference{Name: "one"}
			greeting := &gardenextensionsv1alpha1.Extension{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "greeting", CreationTimestamp: metav1.NewTime(now)}}
			greeting.Spec.Type, greeting.Spec.Class = "greeting", new(gardenextensionsv1alpha1.ExtensionClassSeed)
			greeting.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.NewTime(now)}
			if !tc.quiet {
				greeting.Status.Conditions = []gardencorev1beta1.Condition{{Type: gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy, Status: gardencorev1beta1.ConditionTrue}}
			}
			inSeed := append(definitions(t, true), greeting)
			if tc.beat != nil {
				inSeed = append(inSeed, tc.beat)
			}
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(object, registration, installation).WithStatusSubresource(object).Build()
			r := &seedcare.Reconciler{
				SeedBase: kit.SeedBase{
					GardenClient: garden, GardenReader: garden, SeedName: "one", Clock: clocktesting.NewFakeClock(now),
					SeedClient: fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build(),
				},
				Config:                     &gardenconfigv1alpha1.SeedCareControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 30 * time.Second}},
				StaleExtensionHealthChecks: tc.checks,
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}}); err != nil {
				t.Fatal(err)
			}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(systemComponents(tc.want), summary(object, func(c gardencorev1beta1.Condition) string { return string(c.Status) + " " + c.Reason })); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
