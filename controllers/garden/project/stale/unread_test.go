// SPDX-License-Identifier: Apache-2.0

package stale_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/stale"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestUnread_GCM_STALE_4_6 has one read fail for a project that is used, although its time has come. What is not known is not taken for unused.
func TestUnread_GCM_STALE_4_6(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason, fails string
		// live says that only the reads around the cache fail.
		live bool
	}{
		"namespace":   {reason: "an operator may have exempted it", fails: "*v1.Namespace"},
		"shoots":      {reason: "it may have shoots", fails: "*v1beta1.ShootList"},
		"backups":     {reason: "or backups", fails: "*v1beta1.BackupEntryList"},
		"bindings":    {reason: "others may use its Secrets", fails: "*v1beta1.SecretBindingList"},
		"credentials": {reason: "by bindings of both kinds", fails: "*v1alpha1.CredentialsBindingList"},
		"live":        {reason: "something may have happened in it", fails: "*v1beta1.Project", live: true},
		"live shoots": {reason: "a shoot may have come", fails: "*v1beta1.ShootList", live: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, home := idle()
			project.Status.StaleSinceTimestamp, project.Status.StaleAutoDeleteTimestamp = stamp(31), stamp(121)
			c := world(t, project, home)
			less := func(live bool) client.WithWatch {
				broken := func(object any) error {
					if fmt.Sprintf("%T", object) == tc.fails && (live || !tc.live) {
						return errBoom
					}
					return nil
				}
				return interceptor.NewClient(c, interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
						if err := broken(o); err != nil {
							return err
						}
						return c.Get(ctx, key, o, options...)
					},
					List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if err := broken(list); err != nil {
							return err
						}
						return c.List(ctx, list, options...)
					},
				})
			}
			config := &gardenconfigv1alpha1.ServerConfiguration{}
			config.SetDefaults()
			r := &stale.Reconciler{Base: kit.Base{Client: less(false), Reader: less(true), Clock: clocktesting.NewFakeClock(day(121))}, Config: config.Controllers.Project}
			key := client.ObjectKeyFromObject(project)
			if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); !errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, errBoom)
			}
			left := &gardencorev1beta1.Project{}
			if err := c.Get(t.Context(), key, left); err != nil {
				t.Fatalf("%s\nthe project is gone: %v", tc.reason, err)
			}
			if diff := cmp.Diff(project.Status, left.Status); diff != "" || len(left.Annotations) > 0 {
				t.Errorf("%s\nannotations %v, status (-want +got):\n%s", tc.reason, left.Annotations, diff)
			}
		})
	}
}

// TestQuotaElsewhere_GCM_STALE_4 has a shoot that is limited by a Quota of another project.
func TestQuotaElsewhere_GCM_STALE_4(t *testing.T) {
	t.Parallel()
	project, home := idle()
	meta := metav1.ObjectMeta{Namespace: "garden-other", Name: "b"}
	binding := &gardencorev1beta1.SecretBinding{
		ObjectMeta: meta, SecretRef: corev1.SecretReference{Namespace: "garden-other", Name: "s"}, Quotas: []corev1.ObjectReference{{Namespace: "garden-other", Name: "q"}},
	}
	c := world(t, project, home, binding, &gardencorev1beta1.Shoot{ObjectMeta: meta, Spec: gardencorev1beta1.ShootSpec{SecretBindingName: new("b")}})
	pass(t, c, c, day(200))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(project), project); err != nil || project.Status.StaleSinceTimestamp == nil {
		t.Errorf("a project is not used by what others have: stale since %v, %v", project.Status.StaleSinceTimestamp, err)
	}
}
