// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/health"
)

type condition = gardencorev1beta1.Condition

const plane = "ControlPlaneHealthy"

func at(minute int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC))
}

func TestAggregate_EXT_HEALTH_5_6(t *testing.T) {
	t.Parallel()
	var (
		good    = health.Finding{Outcome: health.Successful}
		bad     = health.Finding{Outcome: health.Unsuccessful, Detail: "it is ill", Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_QUOTA_EXCEEDED"}}
		moves   = health.Finding{Outcome: health.Progressing, Detail: "it starts"}
		patient = health.Finding{Outcome: health.Progressing, Detail: "it starts", Patience: 5 * time.Minute}
		hasty   = health.Finding{Outcome: health.Progressing, Detail: "it grows", Patience: 2 * time.Minute}
		blind   = health.Finding{Err: errors.New("no answer")}
	)
	since := func(status gardencorev1beta1.ConditionStatus, minute int) *condition {
		return &condition{Type: plane, Status: status, LastTransitionTime: at(minute)}
	}
	for name, tc := range map[string]struct {
		reason   string
		have     *condition
		findings []health.Finding
		want     condition
	}{
		"Good":    {reason: "all is well", findings: []health.Finding{good, good}, want: condition{Status: "True", Reason: "HealthCheckSuccessful", Message: "All checks were successful"}},
		"Bad":     {reason: "one is enough", findings: []health.Finding{good, bad}, want: condition{Status: "False", Reason: "HealthCheckUnsuccessful", Message: "it is ill", Codes: bad.Codes}},
		"Two":     {reason: "several are numbered", findings: []health.Finding{bad, bad}, want: condition{Status: "False", Reason: "HealthCheckUnsuccessful", Message: "1) it is ill, 2) it is ill", Codes: bad.Codes}},
		"Blind":   {reason: "nobody knows then", findings: []health.Finding{bad, blind, moves}, want: condition{Status: "Unknown", Reason: "ConditionCheckError", Message: "The check could not be made: no answer"}},
		"Worse":   {reason: "a failure counts more than progress", findings: []health.Finding{moves, bad}, want: condition{Status: "False", Reason: "HealthCheckUnsuccessful", Message: "it is ill", Codes: bad.Codes}},
		"New":     {reason: "it has just begun", findings: []health.Finding{patient}, want: condition{Status: "Progressing", Reason: "HealthCheckProgressing", Message: "it starts"}},
		"WasTrue": {reason: "the same", have: since("True", 0), findings: []health.Finding{patient}, want: condition{Status: "Progressing", Reason: "HealthCheckProgressing", Message: "it starts"}},
		"InTime":  {reason: "the last moment counts", have: since("Progressing", 25), findings: []health.Finding{patient}, want: condition{Status: "Progressing", Reason: "HealthCheckProgressing", Message: "it starts"}},
		"Late":    {reason: "it takes too long", have: since("Progressing", 24), findings: []health.Finding{patient}, want: condition{Status: "False", Reason: "HealthCheckUnsuccessful", Message: "it starts"}},
		"Hasty":   {reason: "the smallest patience counts", have: since("Progressing", 27), findings: []health.Finding{patient, hasty}, want: condition{Status: "False", Reason: "HealthCheckUnsuccessful", Message: "1) it starts, 2) it grows"}},
		"WasBad":  {reason: "it has failed before", have: since("False", 29), findings: []health.Finding{patient}, want: condition{Status: "False", Reason: "HealthCheckUnsuccessful", Message: "it starts"}},
		"NoLimit": {reason: "nobody has set one", have: since("Progressing", 0), findings: []health.Finding{moves}, want: condition{Status: "Progressing", Reason: "HealthCheckProgressing", Message: "it starts"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.want.Type = plane
			if diff := cmp.Diff(tc.want, health.Aggregate(plane, tc.have, tc.findings, at(30).Time)); diff != "" {
				t.Errorf("%s\nAggregate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

const namespace = "shoot--dev--a"

// ward is an object in a seed, and a controller that checks it.
type ward struct {
	*health.Reconciler[*gardenextensionsv1alpha1.ControlPlane]
}

func newWard(t *testing.T, shoot *gardencorev1beta1.Shoot, object *gardenextensionsv1alpha1.ControlPlane, others ...client.Object) ward {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(shoot)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	cluster.Spec.Shoot, cluster.Spec.CloudProfile = runtime.RawExtension{Raw: raw}, runtime.RawExtension{Raw: []byte(`{}`)}
	object.Namespace, object.Name, object.Spec.Type = namespace, "a", "local"
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(append(others, cluster, object)...).WithStatusSubresource(object).Build()
	return ward{&health.Reconciler[*gardenextensionsv1alpha1.ControlPlane]{
		Base: kit.Base{Client: seed, Reader: seed, Clock: clocktesting.NewFakeClock(at(30).Time)}, Name: "health",
		New: func() *gardenextensionsv1alpha1.ControlPlane { return &gardenextensionsv1alpha1.ControlPlane{} },
		Checks: []health.Check{
			{Condition: plane, Run: health.Workload(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "manager"}})},
			{
				Condition: "SystemComponentsHealthy", When: func(*engine.Cluster) bool { return false },
				Run: func(context.Context, client.Reader, string) health.Finding {
					return health.Finding{Outcome: health.Unsuccessful}
				},
			},
		},
	}}
}

func (w ward) look(t *testing.T) ([]condition, time.Duration) {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: "a"}
	result, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	if err != nil {
		t.Fatal(err)
	}
	object := w.New()
	if err := w.Client.Get(t.Context(), key, object); err != nil {
		t.Fatal(err)
	}
	return object.Status.Conditions, result.RequeueAfter
}

func TestChecks_EXT_HEALTH_4_7_8(t *testing.T) {
	t.Parallel()
	running := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))}}
	running.Status = appsv1.DeploymentStatus{
		Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: "True"}},
	}
	broken := running.DeepCopy()
	broken.Status.Conditions[0].Status = "False"
	const asleep = "The cluster is hibernated, so this is not checked"
	skipped := condition{Type: "SystemComponentsHealthy", Status: "True", Reason: "HealthCheckSuccessful", Message: "All checks were successful"}
	sleeping := &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Hibernation: &gardencorev1beta1.Hibernation{Enabled: new(true)}}}
	migrating := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"gardener.cloud/operation": "migrate"}}}
	migrated := &gardenextensionsv1alpha1.ControlPlane{}
	migrated.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Migrate"}
	ending := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(at(0)), Finalizers: []string{"test/held"}}}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		object *gardenextensionsv1alpha1.ControlPlane
		others []client.Object
		want   []condition
		again  time.Duration
	}{
		"Runs": {
			reason: "all is well, and it is looked at again", others: []client.Object{running}, again: 30 * time.Second,
			want: []condition{{Type: plane, Status: "True", Reason: "HealthCheckSuccessful", Message: "All checks were successful"}, skipped},
		},
		"Missing": {
			reason: "somebody has deleted it", again: 30 * time.Second,
			want: []condition{{Type: plane, Status: "False", Reason: "HealthCheckUnsuccessful", Message: `"manager" does not exist`}, skipped},
		},
		"Sleeping": {
			reason: "what does not run cannot be ill", shoot: sleeping,
			want: []condition{
				{Type: plane, Status: "True", Reason: "HealthCheckSuccessful", Message: asleep},
				{Type: "SystemComponentsHealthy", Status: "True", Reason: "HealthCheckSuccessful", Message: asleep},
			},
		},
		"Migrating": {reason: "it is taken down", object: migrating},
		"Migrated":  {reason: "it is elsewhere", object: migrated},
		"Ending":    {reason: "it is taken down", object: ending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot, object := tc.shoot, tc.object
			if shoot == nil {
				shoot = &gardencorev1beta1.Shoot{}
			}
			if object == nil {
				object = &gardenextensionsv1alpha1.ControlPlane{}
			}
			got, again := newWard(t, shoot, object, tc.others...).look(t)
			sorted := cmpopts.SortSlices(func(a, b condition) bool { return a.Type < b.Type })
			if diff := cmp.Diff(tc.want, got, sorted, cmpopts.IgnoreFields(condition{}, "LastTransitionTime", "LastUpdateTime")); diff != "" || again != tc.again {
				t.Errorf("%s\nagain after %s, want %s; conditions (-want +got):\n%s", tc.reason, again, tc.again, diff)
			}
		})
	}
	got, _ := newWard(t, &gardencorev1beta1.Shoot{}, &gardenextensionsv1alpha1.ControlPlane{}, broken).look(t)
	if len(got) == 0 || got[0].Status != "False" && got[len(got)-1].Status != "False" {
		t.Errorf("a Deployment without a pod is healthy: %+v", got)
	}
}

// TestSecondaryController_EXT_STAT_6: a controller beside the one that acts on an object writes conditions, and nothing that the other writes.
func TestSecondaryController_EXT_STAT_6(t *testing.T) {
	t.Parallel()
	object := &gardenextensionsv1alpha1.ControlPlane{}
	object.Status.DefaultStatus = gardenextensionsv1alpha1.DefaultStatus{
		LastOperation:      &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Error", LastUpdateTime: at(10)},
		LastError:          &gardencorev1beta1.LastError{Description: "it fails"},
		ObservedGeneration: 7, State: &runtime.RawExtension{Raw: []byte(`{"a":1}`)}, ProviderStatus: &runtime.RawExtension{Raw: []byte(`{"b":1}`)},
	}
	w := newWard(t, &gardencorev1beta1.Shoot{}, object)
	stale := object.DeepCopy()
	var written []string
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			// Meanwhile the other controller writes.
			live := &gardenextensionsv1alpha1.ControlPlane{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
				return err
			}
			live.Status.LastOperation.State, live.Status.LastError = "Succeeded", nil
			if err := c.Status().Update(ctx, live); err != nil {
				return err
			}
			data, err := p.Data(o)
			written = append(written, string(data))
			return errors.Join(err, c.SubResource(sub).Patch(ctx, o, p, opts...))
		},
	})
	w.look(t)
	if len(written) != 1 {
		t.Fatalf("the status is written %d times: %q", len(written), written)
	}
	patch := struct {
		Status map[string]json.RawMessage `json:"status"`
	}{}
	if err := json.Unmarshal([]byte(written[0]), &patch); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"conditions"}, slices.Sorted(maps.Keys(patch.Status))); diff != "" {
		t.Errorf("what is written (-want +got):\n%s", diff)
	}
	live := &gardenextensionsv1alpha1.ControlPlane{}
	if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(stale), live); err != nil {
		t.Fatal(err)
	}
	if live.Status.LastOperation.State != "Succeeded" || live.Status.LastError != nil || live.Status.ObservedGeneration != 7 || live.Status.State == nil {
		t.Errorf("what the other has written is lost: %+v", live.Status)
	}
}
