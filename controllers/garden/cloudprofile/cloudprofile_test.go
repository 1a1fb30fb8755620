// SPDX-License-Identifier: Apache-2.0

package cloudprofile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// stages are the versions of a status with their stages.
func stages(s gardencorev1beta1.CloudProfileStatus) map[string]string {
	all := map[string]string{}
	if s.Kubernetes != nil {
		for _, v := range s.Kubernetes.Versions {
			all[v.Version] = string(v.Classification)
		}
	}
	for _, image := range s.MachineImages {
		for _, v := range image.Versions {
			all[image.Name+" "+v.Version] = string(v.Classification)
		}
	}
	return all
}

func TestStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	in := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }
	preview := gardencorev1beta1.VersionClassificationPreview
	profile := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: gardencorev1beta1.CloudProfileSpec{
		Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{
			{Version: "1.35.0", ExpirationDate: in(4 * time.Minute)},
			{Version: "1.36.0", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "preview"}, {Classification: "supported", StartTime: in(time.Hour)}, {Classification: "expired", StartTime: in(time.Hour + 5*time.Minute)},
			}},
		}},
		MachineImages: []gardencorev1beta1.MachineImage{{Name: "os", Versions: []gardencorev1beta1.MachineImageVersion{
			{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "18.04.201906170", Classification: &preview}},
		}}},
	}}
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	garden := fake.NewClientBuilder().WithScheme(kinds).WithObjects(profile).WithStatusSubresource(profile).Build()
	clk := clocktesting.NewFakeClock(now)
	r := &cloudprofile.Reconciler{Base: kit.Base{Client: garden, Clock: clk}}
	for _, tc := range []struct {
		reason string
		after  time.Duration
		want   map[string]string
		again  time.Duration
	}{
		{"each version has the stage of the moment, and the first change is waited for", 0, map[string]string{"1.35.0": "supported", "1.36.0": "preview", "os 18.04.201906170": "preview"}, 4 * time.Minute},
		{"a version expires at its date; timers do not run while a machine is suspended", 4 * time.Minute, map[string]string{"1.35.0": "expired", "1.36.0": "preview", "os 18.04.201906170": "preview"}, 10 * time.Minute},
		{"a stage begins at its time", time.Hour, map[string]string{"1.35.0": "expired", "1.36.0": "supported", "os 18.04.201906170": "preview"}, 5 * time.Minute},
		{"after the last stage nothing happens any more", time.Hour + 5*time.Minute, map[string]string{"1.35.0": "expired", "1.36.0": "expired", "os 18.04.201906170": "preview"}, 0},
	} {
		clk.SetTime(now.Add(tc.after))
		result, err := reconcile.AsReconciler(garden, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "local"}})
		if err != nil {
			t.Fatal(err)
		}
		if result.RequeueAfter != tc.again {
			t.Errorf("GCM-CLOUDPROFILE-2: %s\nnext look after %s, want %s", tc.reason, result.RequeueAfter, tc.again)
		}
		got := &gardencorev1beta1.CloudProfile{}
		if err := garden.Get(t.Context(), client.ObjectKey{Name: "local"}, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, stages(got.Status)); diff != "" {
			t.Errorf("GCM-CLOUDPROFILE-2: %s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
