// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const expirationTimestamp = "shoot.gardener.cloud/expiration-timestamp"

// trial gives a project two bindings to its credentials: one with a Quota that limits the lifetime of shoots, and one with another.
func (o *operator) trial(namespace string, days int32) {
	o.t.Helper()
	binding := func(name, quota string) *gardensecurityv1alpha1.CredentialsBinding {
		b := boundTo(namespace, "account", "cloud")
		b.Name, b.Quotas = name, []corev1.ObjectReference{{Namespace: namespace, Name: quota}}
		return b
	}
	o.create(&corev1.Secret{ObjectMeta: named(namespace, "account")}, limit(namespace, "trial", &days), limit(namespace, "cores", nil),
		binding("trial", "trial"), binding("cores", "cores"))
}

// TestLifetimeOfShoots lives through the time after which shoots of a trial are deleted.
func TestLifetimeOfShoots(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	o := operate(t, harness.WithClock(clk))
	o.provider("cloud")
	namespace := *o.project("dev").Spec.Namespace
	careful := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "careful"}}
	careful.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{{Resource: "shoots"}}
	o.create(careful)
	careful = o.phase(careful, gardencorev1beta1.ProjectPhaseReady)
	o.trial(namespace, 7)
	o.trial(*careful.Spec.Namespace, 7)

	ends := func(when time.Time) func(*gardencorev1beta1.Shoot) error {
		want := ""
		if !when.IsZero() {
			want = when.UTC().Format(time.RFC3339)
		}
		return func(s *gardencorev1beta1.Shoot) error {
			return has(s.Annotations[expirationTimestamp] == want, "annotation %q, want %q", s.Annotations[expirationTimestamp], want)
		}
	}
	extend := func(s *gardencorev1beta1.Shoot, to time.Time) func() {
		return func() {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, expirationTimestamp, to.UTC().Format(time.RFC3339))
		}
	}
	short, long := o.shoot(namespace, "short", "cloud", withWorker("trial")), o.shoot(namespace, "long", "cloud", withWorker("trial"))
	two := o.shoot(*careful.Spec.Namespace, "two", "cloud", withWorker("trial"))
	// Its first look finds the end that it came with; a step of the clock could come before the controller has set its timer.
	free := o.shoot(namespace, "free", "cloud", func(s *gardencorev1beta1.Shoot) { extend(s, clk.Now().Add(day))() })
	late, later := o.shoot(namespace, "late", "cloud", withWorker("cores")), o.shoot(namespace, "later", "cloud", withWorker("cores"))
	for _, shoot := range []*gardencorev1beta1.Shoot{short, long, two} {
		harness.Await(t, o.Client, shoot, "GCM-SHOOTQUOTA-2: the end is written", ends(shoot.CreationTimestamp.Add(7*day)))
	}
	harness.Await(t, o.Client, free, "GCM-SHOOTQUOTA-1: a shoot without a lifetime has no end", ends(time.Time{}))

	o.settled("each shoot has been looked at and waits for its next look")
	clk.Step(6*day + time.Hour)
	o.read(long)
	before := long.DeepCopy()
	extend(long, clk.Now().Add(8*day))()
	refused(t, "API-QUOTA-5: the end may not be later than a lifetime from now", o.Client.Patch(t.Context(), long, client.MergeFrom(before)), apierrors.IsForbidden, "at most 7 days")
	extended := clk.Now().Add(6 * day)
	o.change(long, extend(long, extended))

	clk.Step(2 * day)
	o.gone(short, "GCM-SHOOTQUOTA-3: a shoot whose time is over is deleted")
	harness.Await(t, o.Client, long, "GCM-SHOOTQUOTA-2: an end that somebody moved is respected", ends(extended))
	event := o.event(two, "DeleteError", "GCM-SHOOTQUOTA-3: where two users have to agree, they are asked to")
	if event.Type != corev1.EventTypeWarning || !strings.Contains(event.Message, "two users") {
		t.Errorf("GCM-SHOOTQUOTA-3: event = %s %q", event.Type, event.Message)
	}
	o.read(two)
	if _, confirmed := two.Annotations["confirmation.gardener.cloud/deletion"]; confirmed || two.DeletionTimestamp != nil {
		t.Errorf("GCM-SHOOTQUOTA-3: the controller is none of the two, got %v", two.Annotations)
	}
	clk.Step(6 * day)
	o.gone(long, "GCM-SHOOTQUOTA-3: after the extension it is deleted, too")
	o.read(free)

	o.settled("the shoots of the other quota wait for their next look")
	cores := limit(namespace, "cores", nil)
	o.change(cores, func() { cores.Spec.ClusterLifetimeDays = new(int32(1)) })
	clk.Step(time.Hour)
	for _, shoot := range []*gardencorev1beta1.Shoot{late, later} {
		harness.Await(t, o.Client, shoot, "GCM-SHOOTQUOTA-2: a lifetime that comes later counts from the creation", ends(shoot.CreationTimestamp.Add(day)))
	}
	o.change(later, extend(later, clk.Now().Add(12*time.Hour)))
	clk.Step(time.Hour)
	o.gone(late, "GCM-SHOOTQUOTA-3: a shoot that is older is deleted one look later")
	o.read(later)
	if later.DeletionTimestamp != nil {
		t.Error("GCM-SHOOTQUOTA-2: until then its owner may set another time")
	}
}

// TestRetryOfShoots sees that a shoot that failed because of rate limits is retried.
func TestRetryOfShoots(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	o := operate(t, harness.WithClock(clk))
	o.provider("cloud")
	namespace := *o.project("dev").Spec.Namespace
	fail := func(name string, code gardencorev1beta1.ErrorCode) *gardencorev1beta1.Shoot {
		// The scheduler would write another operation.
		shoot := o.shoot(namespace, name, "cloud", func(s *gardencorev1beta1.Shoot) { s.Spec.SchedulerName = new("nobody") })
		o.changeStatus(shoot, func() {
			shoot.Status.ObservedGeneration = shoot.Generation
			shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Failed", LastUpdateTime: metav1.NewTime(clk.Now())}
			shoot.Status.LastErrors = []gardencorev1beta1.LastError{{Description: "refused", Codes: []gardencorev1beta1.ErrorCode{code}}}
		})
		return shoot
	}
	// The API counts a retry as a new generation and takes the annotation away.
	left := func(shoot *gardencorev1beta1.Shoot) {
		t.Helper()
		generation := shoot.Generation
		o.read(shoot)
		if diff := cmp.Diff(generation, shoot.Generation); diff != "" || shoot.Annotations["gardener.cloud/operation"] != "" {
			t.Errorf("GCM-RETRY-1: shoot %q is not retried: generation (-want +got):\n%s", shoot.Name, diff)
		}
	}
	other, throttled := fail("other", "ERR_INFRA_UNAUTHORIZED"), fail("throttled", "ERR_INFRA_RATE_LIMITS_EXCEEDED")
	clk.Step(9 * time.Minute)
	o.settled("nothing is left to do")
	left(throttled)
	clk.Step(6*time.Minute + time.Second)
	harness.Await(t, o.Client, throttled, "GCM-RETRY-1: when period and jitter are over the shoot is retried", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Generation > throttled.Generation, "generation %d, annotations %v", s.Generation, s.Annotations)
	})
	left(other)
}
