// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// blind cannot read objects for which cannot is true.
type blind struct {
	client.Client

	cannot func(object any) bool
}

func (b blind) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	if b.cannot(object) {
		return errBoom
	}
	return b.Client.Get(ctx, key, object, o...)
}

func (b blind) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if b.cannot(list) {
		return errBoom
	}
	return b.Client.List(ctx, list, o...)
}

func is[T any](object any) bool { _, ok := object.(T); return ok }

func TestReadsThatFail_SCHED_SEL_3(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		cannot func(object any) bool
		// moved says that the shoot has changed since the cache was filled.
		moved bool
		asked int
	}{
		"Profile":   {reason: "without its profile nothing is known of the seeds that it may have", cannot: is[*gardencorev1beta1.CloudProfile]},
		"Namespace": {reason: "without the name of the project nothing is known of its domain", cannot: is[*corev1.Namespace]},
		"Domains":   {reason: "nor without the default domains of the garden", cannot: is[*metav1.PartialObjectMetadataList]},
		"Distances": {reason: "distances that cannot be read are not the same as none", cannot: is[*corev1.ConfigMapList]},
		"Stored":    {reason: "what has changed in the shoot is not guessed", cannot: is[*shoot], moved: true, asked: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev"}}
			o := newOffice(t, namespace, newShoot(of("CloudProfile", "local"), domain("crazy-botany.example")), newProfile(), new(newSeed("a")))
			cached := o.shoot(t)
			o.Config.CandidateDeterminationStrategy = gardenconfigv1alpha1.CandidateDeterminationStrategyMinimalDistance
			if tc.moved {
				o.refuse = func() error {
					return apierrors.NewConflict(gardencorev1beta1.Resource("shoots"), "crazy-botany", errBoom)
				}
			}
			o.Client, o.Reader = blind{Client: o.Client, cannot: tc.cannot}, blind{Client: o.Client, cannot: tc.cannot}
			_, err := o.Reconcile(t.Context(), cached)
			if !errors.Is(err, errBoom) || o.asked != tc.asked || len(o.events.Events) != 1 {
				t.Errorf("%s\nReconcile(...) = %v after %d bindings with %d events, want %v after %d with one", tc.reason, err, o.asked, len(o.events.Events), errBoom, tc.asked)
			}
		})
	}
}
