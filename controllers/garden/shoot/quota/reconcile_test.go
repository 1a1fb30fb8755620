// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/quota"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// pass is what a pass over a shoot leaves behind.
type pass struct {
	// Gone says that the shoot was deleted.
	Gone bool
	// Expires is its annotation.
	Expires string
	// Next is when it is looked at again.
	Next time.Duration
}

// TestPass looks at a shoot once, whose quota lets it exist for a day. It was created at the begin of the second of January.
func TestPass(t *testing.T) {
	t.Parallel()
	const annotation, end = "shoot.gardener.cloud/expiration-timestamp", "2026-01-03T00:00:00Z"
	created := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	noted := func(value string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, annotation, value) }
	}
	for name, tc := range map[string]struct {
		reason string
		age    time.Duration
		change func(*gardencorev1beta1.Shoot)
		want   pass
	}{
		"GCM-SHOOTQUOTA-2 new":     {"the end is noted", time.Minute, nil, pass{Expires: end, Next: time.Hour}},
		"GCM-SHOOTQUOTA-1 period":  {"and looked at again after the period", time.Minute, noted(end), pass{Expires: end, Next: time.Hour}},
		"GCM-SHOOTQUOTA-1 near":    {"or at the end, if that is sooner", 23*time.Hour + 50*time.Minute, noted(end), pass{Expires: end, Next: 10 * time.Minute}},
		"GCM-SHOOTQUOTA-3 over":    {"then the shoot is deleted", 24 * time.Hour, noted(end), pass{Gone: true, Next: time.Hour}},
		"GCM-SHOOTQUOTA-3 late":    {"but not in the pass in which its owner learns of it", 48 * time.Hour, nil, pass{Expires: end, Next: time.Hour}},
		"GCM-SHOOTQUOTA-2 longer":  {"an end that its owner has set counts", 30 * time.Hour, noted("2026-01-04T00:00:00Z"), pass{Expires: "2026-01-04T00:00:00Z", Next: time.Hour}},
		"GCM-SHOOTQUOTA-2 no time": {"what is no time is replaced", time.Minute, noted("tomorrow"), pass{Expires: end, Next: time.Hour}},
		"GCM-SHOOTQUOTA-1 no quota": {"without a lifetime there is no end", 48 * time.Hour, func(s *gardencorev1beta1.Shoot) {
			noted(end)(s)
			s.Spec.SecretBindingName = nil
		}, pass{Next: time.Hour}},
		"GCM-SHOOTQUOTA-3 for two": {"one that two users have to delete is left to them", 24 * time.Hour, func(s *gardencorev1beta1.Shoot) {
			noted(end)(s)
			s.Labels = map[string]string{"purpose": "production"}
		}, pass{Expires: end, Next: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", UID: "1", CreationTimestamp: metav1.NewTime(created)}}
			s.Spec.SecretBindingName = new("trial")
			if tc.change != nil {
				tc.change(s)
			}
			if diff := cmp.Diff(tc.want, look(t, s, created.Add(tc.age), annotation)); diff != "" {
				t.Errorf("%s\na pass (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// look makes one pass, and returns what it leaves behind.
func look(t *testing.T, s *gardencorev1beta1.Shoot, now time.Time, annotation string) pass {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	one := &limited(1)[0]
	one.Namespace, one.Name = "garden-dev", "trial"
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}
	project.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{
		{Resource: "shoots", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"purpose": "production"}}},
	}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(
		s, one, project,
		&gardencorev1beta1.SecretBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "trial"}, Quotas: []corev1.ObjectReference{{Namespace: "garden-dev", Name: "trial"}},
		},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"project.gardener.cloud/name": "dev"}}},
	).Build()
	r := &quota.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(now), Recorder: events.NewFakeRecorder(10)},
		Config: gardenconfigv1alpha1.ServerShootQuotaControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Hour}},
	}
	key := client.ObjectKeyFromObject(s)
	if err := c.Get(t.Context(), key, s); err != nil {
		t.Fatal(err)
	}
	result, err := r.Reconcile(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Get(t.Context(), key, s)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return pass{Gone: true, Next: result.RequeueAfter}
	}
	return pass{Expires: s.Annotations[annotation], Next: result.RequeueAfter}
}
