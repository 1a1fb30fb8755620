// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/profile"
)

func TestOf(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "own"}}
	own.Status.ObservedGeneration = 1
	own.Status.CloudProfileSpec.Type = "of the project"
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(
		&gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: gardencorev1beta1.CloudProfileSpec{Type: "of the garden"}},
		own, &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "new"}},
	).Build()
	ref := func(kind, name string) gardencorev1beta1.ShootSpec {
		return gardencorev1beta1.ShootSpec{CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name}}
	}
	cases := map[string]struct {
		reason string
		spec   gardencorev1beta1.ShootSpec
		want   string
		is     func(error) bool
	}{
		"Garden":     {reason: "a profile of the garden", spec: ref("CloudProfile", "all"), want: "of the garden"},
		"OlderField": {reason: "the older field names one of the garden", spec: gardencorev1beta1.ShootSpec{CloudProfileName: new("all")}, want: "of the garden"},
		"Project":    {reason: "a profile of the project offers what its status says", spec: ref("NamespacedCloudProfile", "own"), want: "of the project"},
		"NotMerged":  {reason: "an empty offer would fit nothing", spec: ref("NamespacedCloudProfile", "new"), is: isA(profile.ErrNotMerged)},
		"Missing":    {reason: "the error says that it does not exist", spec: ref("NamespacedCloudProfile", "x"), is: apierrors.IsNotFound},
		"Gone":       {reason: "the error says that it does not exist", spec: ref("CloudProfile", "x"), is: apierrors.IsNotFound},
		"OtherKind":  {reason: "other kinds are not profiles", spec: ref("Profile", "all"), is: isA(profile.ErrKind)},
		"None":       {reason: "a shoot that names none", is: isA(profile.ErrNone)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}, Spec: tc.spec}
			got, err := profile.Of(t.Context(), garden, s)
			if tc.is != nil {
				if !tc.is(err) {
					t.Errorf("%s\nOf(...) = %v", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(gardencorev1beta1.CloudProfileSpec{Type: tc.want}, got.Spec); diff != "" {
				t.Errorf("%s\nOf(...).Spec (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func isA(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}
