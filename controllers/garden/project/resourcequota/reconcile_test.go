// SPDX-License-Identifier: Apache-2.0

package resourcequota_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/resourcequota"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestReconcile_GCM_RQ_1 has quotas for ten Secrets that were made for one of each shoot, or another number.
func TestReconcile_GCM_RQ_1(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const forSecrets, forConfigMaps = "quota.gardener.cloud/secrets-per-shoot", "quota.gardener.cloud/configmaps-per-shoot"
	for name, tc := range map[string]struct {
		reason string
		change func(*corev1.ResourceQuota)
		role   string
		fails  string
		want   int64
		noted  string
	}{
		"present": {reason: "it is raised for the two shoots that are there", role: "project", want: 16, noted: "4"},
		"limited": {reason: "or for all that there may be", role: "project", change: func(q *corev1.ResourceQuota) {
			q.Spec.Hard["count/shoots.core.gardener.cloud"] = resource.MustParse("5")
		}, want: 25, noted: "4"},
		"current":  {reason: "it is high enough", role: "project", change: func(q *corev1.ResourceQuota) { q.Annotations[forSecrets] = "9" }, want: 10, noted: "9"},
		"unknown":  {reason: "one that does not say what it was made for is made for the present", role: "project", change: func(q *corev1.ResourceQuota) { q.Annotations = nil }, want: 10, noted: "4"},
		"half":     {reason: "one of two numbers is not enough", role: "project", change: func(q *corev1.ResourceQuota) { delete(q.Annotations, forConfigMaps) }, want: 16, noted: "4"},
		"no home":  {reason: "that of another namespace is left alone", role: "seed", want: 10, noted: "1"},
		"no role":  {reason: "whatever it is for", want: 10, noted: "1"},
		"no list":  {reason: "how many shoots there are is not guessed", role: "project", fails: "list *v1beta1.ShootList", want: 10, noted: "1"},
		"no space": {reason: "nor whose it is", role: "project", fails: "get *v1.Namespace", want: 10, noted: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quota := &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "gardener", Annotations: map[string]string{forSecrets: "1", forConfigMaps: "2"}},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("10")}},
			}
			if tc.change != nil {
				tc.change(quota)
			}
			shoot := func(namespace, name string) *gardencorev1beta1.Shoot {
				return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			}
			home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"gardener.cloud/role": tc.role}}}
			broken := func(what string) error {
				if what == tc.fails {
					return errBoom
				}
				return nil
			}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(quota, home, shoot("garden-dev", "a"), shoot("garden-dev", "b"), shoot("garden-other", "c")).
				WithInterceptorFuncs(interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
						if err := broken(fmt.Sprintf("get %T", o)); err != nil {
							return err
						}
						return c.Get(ctx, key, o, options...)
					},
					List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if err := broken(fmt.Sprintf("list %T", list)); err != nil {
							return err
						}
						return c.List(ctx, list, options...)
					},
				}).Build()
			key := client.ObjectKeyFromObject(quota)
			if err := c.Get(t.Context(), key, quota); err != nil {
				t.Fatal(err)
			}
			if _, err := (&resourcequota.Reconciler{Base: kit.Base{Client: c}}).Reconcile(t.Context(), quota); (tc.fails != "") != errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v", tc.reason, err)
			}
			left := &corev1.ResourceQuota{}
			if err := c.Get(t.Context(), key, left); err != nil {
				t.Fatal(err)
			}
			got := left.Spec.Hard["count/secrets"]
			if diff := cmp.Diff(tc.want, got.Value()); diff != "" {
				t.Errorf("%s\nSecrets (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.noted, left.Annotations[forSecrets]); diff != "" {
				t.Errorf("%s\nSecrets of each shoot (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
