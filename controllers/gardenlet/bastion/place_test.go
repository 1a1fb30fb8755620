// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
)

// TestForeignNamespace_GLET_SHOOT_18 sees that no host is made or deleted in a namespace that belongs to another shoot.
func TestForeignNamespace_GLET_SHOOT_18(t *testing.T) {
	t.Parallel()
	for id, reason := range map[string]string{
		"shoot--victim--prod": "the technical ID is that of another shoot", plane: "the namespace is that of a former shoot", "kube-system": "the technical ID is none",
	} {
		for _, deleted := range []bool{false, true} {
			l := newLandscape(t, func(s *gardencorev1beta1.Shoot, b *gardenoperationsv1alpha1.Bastion) {
				s.Status.TechnicalID, s.Status.UID = id, "x"
				if deleted {
					b.Finalizers, b.DeletionTimestamp = []string{"gardener"}, new(metav1.Now())
				}
			})
			theirs := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: id, Annotations: map[string]string{"shoot.gardener.cloud/uid": "theirs"}}}
			host := &gardenextensionsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: id, Name: "door", ResourceVersion: ""}}
			if err := l.SeedClient.Create(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			if deleted {
				if err := l.SeedClient.Create(t.Context(), host); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.pass(t); err == nil {
				t.Errorf("%s (deleted: %v): Reconcile(...) returned no error", reason, deleted)
			}
			list := &gardenextensionsv1alpha1.BastionList{}
			if err := l.SeedClient.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			if deleted {
				want = []string{id + "/door"}
			}
			for i := range list.Items {
				got = append(got, list.Items[i].Namespace+"/"+list.Items[i].Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (deleted: %v): hosts (-want +got):\n%s", reason, deleted, diff)
			}
		}
	}
}
