// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestDefaultsReachListItems(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := gardencorev1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gardencorev1beta1.RegisterDefaults(scheme)
	list := &gardencorev1beta1.ShootList{Items: []gardencorev1beta1.Shoot{{}}}
	scheme.Default(list)
	if diff := cmp.Diff(new(gardencorev1beta1.ShootPurposeEvaluation), list.Items[0].Spec.Purpose); diff != "" {
		t.Errorf("items of a list are completed like single objects\npurpose (-want +got):\n%s", diff)
	}
}

func TestSetDefaultsShoot(t *testing.T) {
	t.Parallel()
	withWorker := func(change func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-a", Name: "b"}}
		s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "w"}}
		if change != nil {
			change(s)
		}
		gardencorev1beta1.SetDefaultsShoot(s)
		return s
	}
	for name, tc := range map[string]struct {
		reason    string
		got, want any
	}{
		"API-DEF-1": {
			reason: "a shoot is for evaluation", got: *withWorker(nil).Spec.Purpose, want: gardencorev1beta1.ShootPurposeEvaluation,
		},
		"API-DEF-2": {
			reason: "the window follows from the name, so that it is the same each time",
			got:    withWorker(nil).Spec.Maintenance.TimeWindow, want: withWorker(nil).Spec.Maintenance.TimeWindow,
		},
		"API-DEF-3": {
			reason: "shoots of the garden may use protected seeds",
			got:    withWorker(func(s *gardencorev1beta1.Shoot) { s.Namespace = "garden" }).Spec.Tolerations,
			want:   []gardencorev1beta1.Toleration{{Key: "seed.gardener.cloud/protected"}},
		},
		"API-DEF-4": {
			reason: "events are kept for an hour",
			got:    withWorker(nil).Spec.Kubernetes.KubeAPIServer.EventTTL.Duration, want: time.Hour,
		},
		"API-DEF-5 default": {
			reason: "110 pods, doubled, need 8 bits",
			got:    *withWorker(nil).Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSize, want: int32(24),
		},
		"API-DEF-5 larger": {
			reason: "200 pods, doubled, need 9 bits",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(200))}
			}).Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSize,
			want: int32(23),
		},
		"API-DEF-9 rolling": {
			reason: "machines are replaced one by one", got: *withWorker(nil).Spec.Provider.Workers[0].MaxSurge, want: intstr.FromInt(1),
		},
		"API-DEF-9 in place": {
			reason: "an update in place needs no further machine",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers[0].UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
			}).Spec.Provider.Workers[0].MaxSurge,
			want: intstr.FromInt(0),
		},
		"Kept": {
			reason: "what is given stays",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeProduction)
			}).Spec.Purpose,
			want: gardencorev1beta1.ShootPurposeProduction,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSetDefaultsWorkerless(t *testing.T) {
	t.Parallel()
	s := &gardencorev1beta1.Shoot{}
	gardencorev1beta1.SetDefaultsShoot(s)
	if s.Spec.SystemComponents != nil || s.Spec.Kubernetes.Kubelet != nil || s.Spec.Provider.WorkersSettings != nil {
		t.Errorf("a shoot without workers gets nothing of machines, got %+v", s.Spec)
	}
}

func TestSetDefaultsProject(t *testing.T) {
	t.Parallel()
	p := &gardencorev1beta1.Project{Spec: gardencorev1beta1.ProjectSpec{
		Members: []gardencorev1beta1.ProjectMember{
			{Subject: rbacv1.Subject{Kind: "User", Name: "rose"}},
			{Subject: rbacv1.Subject{Kind: "ServiceAccount", Name: "robot", Namespace: "x"}, Roles: []string{"uam", "viewer"}},
		},
	}}
	gardencorev1beta1.SetDefaultsProject(p)
	want := []gardencorev1beta1.ProjectMember{
		{Subject: rbacv1.Subject{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: "rose"}, Role: "viewer"},
		{Subject: rbacv1.Subject{Kind: "ServiceAccount", Name: "robot", Namespace: "x"}, Role: "uam", Roles: []string{"viewer"}},
	}
	if diff := cmp.Diff(want, p.Spec.Members); diff != "" {
		t.Errorf("API-DEF-13: members get a role and subjects their group (-want +got):\n%s", diff)
	}
}

func TestSetDefaultsSeed(t *testing.T) {
	t.Parallel()
	s := &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{Settings: &gardencorev1beta1.SeedSettings{
		Scheduling: &gardencorev1beta1.SeedSettingScheduling{Visible: false},
	}}}
	gardencorev1beta1.SetDefaultsSeed(s)
	if s.Spec.Settings.Scheduling.Visible {
		t.Error("API-DEF-14: an explicit false stays, got true")
	}
	if !s.Spec.Settings.VerticalPodAutoscaler.Enabled || len(s.Spec.Settings.ExcessCapacityReservation.Configs) != 1 {
		t.Errorf("API-DEF-14: settings that are left out are filled in, got %+v", s.Spec.Settings)
	}
}
