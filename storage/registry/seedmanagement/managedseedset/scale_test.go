// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement/managedseedset"
)

type set = gardenseedmanagementv1alpha1.ManagedSeedSet

func TestScale(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		scale  autoscalingv1.Scale
		want   int32
		is     func(error) bool
	}{
		"API-RES-4 grow":     {reason: "a set grows", scale: autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}}, want: 5},
		"API-RES-4 nothing":  {reason: "or vanishes", want: 0},
		"API-RES-4 negative": {reason: "but no further", scale: autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: -1}}, want: 2, is: apierrors.IsInvalid},
		"API-RES-4 stale": {
			reason: "who read something else is told so", scale: autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "77"}}, want: 2, is: apierrors.IsConflict,
		},
		"API-RES-4 another": {
			reason: "so is who means a set that is gone", scale: autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{UID: "other"}}, want: 2, is: apierrors.IsConflict,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, "garden", "rose")
			all, err := managedseedset.Storage(kindtest.Options(t))
			if err != nil {
				t.Fatal(err)
			}
			sets, scales := kindtest.Of[*set](t, all, "managedseedsets"), kindtest.Of[*autoscalingv1.Scale](t, all, "managedseedsets/scale")
			labels := map[string]string{"set": "soil"}
			given := &set{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "soil"}}
			given.Spec.Replicas, given.Spec.Selector.MatchLabels = new(int32(2)), labels
			given.Spec.Template.Labels, given.Spec.ShootTemplate.Labels = labels, labels
			given.Spec.Template.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{MergeWithParent: new(true)}
			given.Spec.ShootTemplate.Spec = gardencorev1beta1.ShootSpec{
				CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
				Region:       "local", CredentialsBindingName: new("local"),
				Kubernetes: gardencorev1beta1.Kubernetes{Version: "1.33.2"},
				Networking: &gardencorev1beta1.Networking{Type: new("local"), Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16")},
				Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{
					Name: "worker", Minimum: 1, Maximum: 1, MaxSurge: new(intstr.FromInt32(1)),
					Machine: gardencorev1beta1.Machine{Type: "local", Image: &gardencorev1beta1.ShootMachineImage{Name: "local"}},
				}}},
			}
			s := sets.MustCreate(ctx, given)

			tc.scale.Name, tc.scale.Namespace = "soil", "garden"
			if tc.scale.ResourceVersion == "" {
				tc.scale.ResourceVersion = s.ResourceVersion
			}
			got, err := scales.Update(ctx, &tc.scale)
			if tc.is == nil && err != nil || tc.is != nil && (err == nil || !tc.is(err)) {
				t.Fatalf("%s\nUpdate(scale): %v", tc.reason, err)
			}
			if err == nil && (got.Spec.Replicas != tc.want || got.UID != s.UID) {
				t.Errorf("%s\nUpdate(scale) = %v", tc.reason, got)
			}
			reader, ok := all["managedseedsets/scale"].(rest.Getter)
			if !ok {
				t.Fatal("a scale can be read")
			}
			obj, err := reader.Get(ctx, "soil", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			is, ok := obj.(*autoscalingv1.Scale)
			if !ok {
				t.Fatalf("%T is no scale", obj)
			}
			want := &autoscalingv1.Scale{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "garden", Name: "soil", UID: s.UID, CreationTimestamp: s.CreationTimestamp, ResourceVersion: is.ResourceVersion,
				},
				Spec: autoscalingv1.ScaleSpec{Replicas: tc.want}, Status: autoscalingv1.ScaleStatus{Selector: "set=soil"},
			}
			if diff := cmp.Diff(want, is); diff != "" {
				t.Errorf("%s\nGet(scale) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
