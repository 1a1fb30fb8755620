// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/quota"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const expiration = "shoot.gardener.cloud/expiration-timestamp"

// overdue is a shoot whose time has been over for a day, and what that depends on.
func overdue() (*gardencorev1beta1.Shoot, []client.Object) {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden-dev", Name: "a", UID: "1", CreationTimestamp: metav1.NewTime(now().AddDate(0, 0, -2)),
		Annotations: map[string]string{expiration: now().AddDate(0, 0, -1).Format(time.RFC3339)},
	}}
	s.Spec.SecretBindingName = new("trial")
	one, refs := limited(1)[0], []corev1.ObjectReference{{Namespace: "garden-dev", Name: "trial"}}
	meta := metav1.ObjectMeta{Namespace: "garden-dev", Name: "trial"}
	one.ObjectMeta = meta
	return s, []client.Object{
		&one, &gardencorev1beta1.SecretBinding{ObjectMeta: meta, Quotas: refs}, &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: meta, Quotas: refs},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"project.gardener.cloud/name": "dev"}}},
		&gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "dev"}},
	}
}

func now() time.Time { return time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC) }

func world(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).Build()
}

// judge makes a pass over the shoot that the cache shows, and returns the shoot that is left in the cache, or nil.
func judge(t *testing.T, cache, live client.Client) (*gardencorev1beta1.Shoot, error) {
	t.Helper()
	r := &quota.Reconciler{
		Base:   kit.Base{Client: cache, Reader: live, Clock: clocktesting.NewFakeClock(now()), Recorder: events.NewFakeRecorder(10)},
		Config: gardenconfigv1alpha1.ServerShootQuotaControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Hour}},
	}
	s, key := &gardencorev1beta1.Shoot{}, client.ObjectKey{Namespace: "garden-dev", Name: "a"}
	if err := cache.Get(t.Context(), key, s); err != nil {
		t.Fatal(err)
	}
	_, failed := r.Reconcile(t.Context(), s)
	s = &gardencorev1beta1.Shoot{}
	if err := cache.Get(t.Context(), key, s); err != nil {
		return nil, failed
	}
	return s, failed
}

// TestOldCache_GCM_SHOOTQUOTA_3 has a cache that shows a shoot whose time is over, and a server that may know better.
func TestOldCache_GCM_SHOOTQUOTA_3(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		live   func(s *gardencorev1beta1.Shoot, rest []client.Object)
		absent bool
		gone   bool
	}{
		"same": {reason: "both say so", live: func(*gardencorev1beta1.Shoot, []client.Object) {}, gone: true},
		"extended": {reason: "its owner has set a later end", live: func(s *gardencorev1beta1.Shoot, _ []client.Object) {
			s.Annotations[expiration] = now().AddDate(0, 0, 1).Format(time.RFC3339)
		}},
		"namesake": {reason: "the shoot was made anew", live: func(s *gardencorev1beta1.Shoot, _ []client.Object) { s.UID = "2" }},
		"ending": {reason: "somebody has deleted it", live: func(s *gardencorev1beta1.Shoot, _ []client.Object) {
			s.DeletionTimestamp, s.Finalizers = new(metav1.NewTime(now())), []string{"gardener"}
		}},
		"unlimited": {reason: "its quota lets it exist for ever", live: func(_ *gardencorev1beta1.Shoot, rest []client.Object) {
			rest[0].(*gardencorev1beta1.Quota).Spec.ClusterLifetimeDays = nil
		}},
		"gone": {reason: "nothing is left to delete", live: func(*gardencorev1beta1.Shoot, []client.Object) {}, absent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rest := overdue()
			cache := world(t, append(rest, s)...)
			s, rest = overdue()
			tc.live(s, rest)
			if !tc.absent {
				rest = append(rest, s)
			}
			left, err := judge(t, cache, world(t, rest...))
			if err != nil || (left == nil) != tc.gone {
				t.Errorf("%s\nReconcile(...) = %v, the shoot is gone: %t, want %t", tc.reason, err, left == nil, tc.gone)
			}
		})
	}
}

// TestPlain_GCM_SHOOTQUOTA_1_3 has shoots with bindings of both kinds, and one that has no end.
func TestPlain_GCM_SHOOTQUOTA_1_3(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		gone   bool
		want   string
	}{
		"credentials": {reason: "the quotas of a CredentialsBinding count, too", gone: true, change: func(s *gardencorev1beta1.Shoot) {
			s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = nil, new("trial")
		}},
		"none": {reason: "without quotas the annotation goes", change: func(s *gardencorev1beta1.Shoot) { s.Spec.SecretBindingName = nil }},
		"ending": {reason: "a shoot in deletion is left alone", change: func(s *gardencorev1beta1.Shoot) {
			s.DeletionTimestamp, s.Finalizers, s.Annotations = new(metav1.NewTime(now())), []string{"gardener"}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rest := overdue()
			tc.change(s)
			c := world(t, append(rest, s)...)
			left, err := judge(t, c, c)
			if err != nil || (left == nil) != tc.gone {
				t.Fatalf("%s\nReconcile(...) = %v, the shoot is gone: %t, want %t", tc.reason, err, left == nil, tc.gone)
			}
			if left == nil {
				return
			}
			if end, noted := left.Annotations[expiration]; noted {
				t.Errorf("%s\nit ends at %q, want no annotation", tc.reason, end)
			}
		})
	}
}

// TestUnread_GCM_SHOOTQUOTA_1_3 has a read that fails or finds nothing. That is not taken for a lifetime without an end, nor for leave to delete.
func TestUnread_GCM_SHOOTQUOTA_1_3(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason      string
		cache, live func(client.Object) bool
		credentials bool
	}{
		"binding":      {reason: "the binding tells the quotas", cache: is[*gardencorev1beta1.SecretBinding]},
		"credentials":  {reason: "so does one of the other kind", cache: is[*gardensecurityv1alpha1.CredentialsBinding], credentials: true},
		"quota":        {reason: "a quota may be the strictest", cache: is[*gardencorev1beta1.Quota]},
		"shoot":        {reason: "its owner may have set another end", live: is[*gardencorev1beta1.Shoot]},
		"live binding": {reason: "it may have another binding", live: is[*gardencorev1beta1.SecretBinding]},
		"namespace":    {reason: "its project may want two users", live: is[*corev1.Namespace]},
		"project":      {reason: "or not", live: is[*gardencorev1beta1.Project]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rest := overdue()
			if tc.credentials {
				s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = nil, new("trial")
			}
			c := world(t, append(rest, s)...)
			less := func(cannot func(client.Object) bool) client.Client {
				return interceptor.NewClient(c, interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
						if cannot != nil && cannot(o) {
							return errBoom
						}
						return c.Get(ctx, key, o, options...)
					},
				})
			}
			left, err := judge(t, less(tc.cache), less(tc.live))
			if !errors.Is(err, errBoom) || left == nil || left.Annotations[expiration] != s.Annotations[expiration] {
				t.Errorf("%s\nReconcile(...) = %v, want %v and a shoot that is as before, got %v", tc.reason, err, errBoom, left)
			}
		})
	}
}

func is[T client.Object](object client.Object) bool { _, ok := object.(T); return ok }
