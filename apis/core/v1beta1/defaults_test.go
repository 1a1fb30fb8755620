// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
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
	fewPods := func() *gardencorev1beta1.WorkerKubernetes {
		return &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(30))}}
	}
	for name, tc := range map[string]struct {
		reason    string
		got, want any
	}{
		"API-DEF-1": {
			reason: "a shoot is for evaluation", got: *withWorker(nil).Spec.Purpose, want: gardencorev1beta1.ShootPurposeEvaluation,
		},
		"API-DEF-3": {
			reason: "shoots of the garden may use protected seeds",
			got:    withWorker(func(s *gardencorev1beta1.Shoot) { s.Namespace = "garden" }).Spec.Tolerations,
			want:   []gardencorev1beta1.Toleration{{Key: "seed.gardener.cloud/protected"}},
		},
		"API-DEF-5 one pool": {
			reason: "30 pods, doubled, need 6 bits",
			got:    *withWorker(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].Kubernetes = fewPods() }).Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSize,
			want:   int32(26),
		},
		"API-DEF-5 shared": {
			reason: "a pool that is added later takes the 200 pods of the shoot",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(200))}
				s.Spec.Provider.Workers[0].Kubernetes = fewPods()
			}).Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSize,
			want: int32(23),
		},
		"API-DEF-5 another pool": {
			reason: "a pool that says nothing has 110 pods on a node",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				more := s.Spec.Provider.Workers[0]
				more.Name = "more"
				s.Spec.Provider.Workers[0].Kubernetes = fewPods()
				s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, more)
			}).Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSize,
			want: int32(24),
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
		"API-DEF-2 rotation": {
			reason: "credentials that are to be rotated are so once a week",
			got: withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
					Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{SSHKeypair: &gardencorev1beta1.MaintenanceRotationConfig{}},
				}}
			}).Spec.Maintenance.AutoRotation.Credentials.SSHKeypair.RotationPeriod.Duration,
			want: 7 * 24 * time.Hour,
		},
		"API-DEF-5 dual stack": {
			reason: "each family has its share",
			got: func() []*int32 {
				k := withWorker(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}}
				}).Spec.Kubernetes.KubeControllerManager
				return []*int32{k.NodeCIDRMaskSize, k.NodeCIDRMaskSizeIPv6}
			}(),
			want: []*int32{new(int32(24)), new(int32(64))},
		},
		"API-DEF-5 IPv6": {
			reason: "a family alone takes the one field",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
			}).Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSize,
			want: int32(64),
		},
		"API-DEF-6": {
			reason: "nodes forward by IPTables unless told otherwise",
			got:    *withWorker(nil).Spec.Kubernetes.KubeProxy.Mode, want: gardencorev1beta1.ProxyModeIPTables,
		},
		"API-DEF-7 serial": {
			reason: "images are pulled one by one", got: *withWorker(nil).Spec.Kubernetes.Kubelet.SerializeImagePulls, want: true,
		},
		"API-DEF-7 parallel": {
			reason: "unless several at once are wanted, for a pool too",
			got: func() []bool {
				s := withWorker(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxParallelImagePulls: new(int32(2))}
					s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{
						Kubelet: &gardencorev1beta1.KubeletConfig{MaxParallelImagePulls: new(int32(3))},
					}
				})
				return []bool{*s.Spec.Kubernetes.Kubelet.SerializeImagePulls, *s.Spec.Provider.Workers[0].Kubernetes.Kubelet.SerializeImagePulls}
			}(),
			want: []bool{false, false},
		},
		"API-DEF-7 swap": {
			reason: "swapping is limited",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{FailSwapOn: new(false)}
				s.Spec.Kubernetes.Kubelet.FeatureGates = map[string]bool{"NodeSwap": true}
			}).Spec.Kubernetes.Kubelet.MemorySwap.SwapBehavior,
			want: gardencorev1beta1.SwapBehaviorLimitedSwap,
		},
		"API-DEF-9 by hand": {
			reason: "machines that wait for someone to update them in place are not replaced at all",
			got: func() []any {
				w := withWorker(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Provider.Workers[0].UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)
				}).Spec.Provider.Workers[0]
				return []any{w.MaxSurge == nil, w.MaxUnavailable == nil, *w.MachineControllerManager.DisableHealthTimeout}
			}(),
			want: []any{true, true, true},
		},
		"API-DEF-10": {
			reason: "the autoscaler waits for half an hour",
			got: withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{}
			}).Spec.Kubernetes.ClusterAutoscaler.ScaleDownUnneededTime.Duration,
			want: 30 * time.Minute,
		},
		"API-DEF-11": {
			reason: "evictions are not limited by a rate",
			got: *withWorker(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{}
			}).Spec.Kubernetes.VerticalPodAutoscaler.EvictionRateLimit,
			want: -1.0,
		},
		"API-DEF-12": {
			reason: "machines can be reached by SSH", got: withWorker(nil).Spec.Provider.WorkersSettings.SSHAccess.Enabled, want: true,
		},
		"API-SHOOTSTRAT-10 older": {
			reason: "the name of a Secret makes a reference",
			got:    provider("1.34.2", gardencorev1beta1.DNSProvider{SecretName: new("dns")}).CredentialsRef,
			want:   &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "dns"},
		},
		"API-SHOOTSTRAT-10 newer": {
			reason: "and a reference to one makes a name",
			got: provider("1.34", gardencorev1beta1.DNSProvider{
				CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "Secret", Name: "dns"},
			}).SecretName,
			want: new("dns"),
		},
		"API-SHOOTSTRAT-10 past": {
			reason: "no more from 1.35 on",
			got:    provider("1.35.0", gardencorev1beta1.DNSProvider{SecretName: new("dns")}).CredentialsRef == nil,
			want:   true,
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

// provider is the DNS provider of a shoot of a version of Kubernetes, as defaulting leaves it.
func provider(kubernetes string, p gardencorev1beta1.DNSProvider) gardencorev1beta1.DNSProvider {
	s := &gardencorev1beta1.Shoot{}
	s.Spec.Kubernetes.Version = kubernetes
	s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{p}}
	gardencorev1beta1.SetDefaultsShoot(s)
	return s.Spec.DNS.Providers[0]
}

func TestSetDefaultsOthers(t *testing.T) {
	t.Parallel()
	profile := &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{
		MachineImages: []gardencorev1beta1.MachineImage{{Versions: []gardencorev1beta1.MachineImageVersion{{}}}},
		MachineTypes:  []gardencorev1beta1.MachineType{{}},
	}}
	gardencorev1beta1.SetDefaultsCloudProfile(profile)
	registration := &gardencorev1beta1.ControllerRegistration{Spec: gardencorev1beta1.ControllerRegistrationSpec{
		Resources: []gardencorev1beta1.ControllerResource{{Kind: "Extension"}, {Kind: "SelfHostedShootExposure"}},
	}}
	gardencorev1beta1.SetDefaultsControllerRegistration(registration)
	binding := &gardencorev1beta1.SecretBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-a"}, Quotas: []corev1.ObjectReference{{}}}
	gardencorev1beta1.SetDefaultsSecretBinding(binding)
	bucket := &gardencorev1beta1.BackupBucket{Spec: gardencorev1beta1.BackupBucketSpec{SecretRef: &corev1.SecretReference{Namespace: "garden", Name: "key"}}}
	gardencorev1beta1.SetDefaultsBackupBucket(bucket)
	given := &corev1.ObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: "garden", Name: "id"}
	other := &gardencorev1beta1.BackupBucket{Spec: gardencorev1beta1.BackupBucketSpec{CredentialsRef: given, SecretRef: bucket.Spec.SecretRef}}
	gardencorev1beta1.SetDefaultsBackupBucket(other)
	addition := &gardencorev1beta1.NamespacedCloudProfile{Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
		MachineTypes: []gardencorev1beta1.MachineType{{}}, VolumeTypes: []gardencorev1beta1.VolumeType{{}},
	}}
	gardencorev1beta1.SetDefaultsNamespacedCloudProfile(addition)
	for name, tc := range map[string]struct {
		reason    string
		got, want any
	}{
		"bucket":                {"the older field is taken over", bucket.Spec.CredentialsRef, &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "key"}},
		"bucket with both":      {"unless the newer is given", other.Spec.CredentialsRef, given},
		"addition":              {"what a project adds can be used", *addition.Spec.MachineTypes[0].Usable, true},
		"addition volume":       {"volumes too", *addition.Spec.VolumeTypes[0].Usable, true},
		"addition architecture": {"the parent knows how architectures are told", addition.Spec.MachineTypes[0].Architecture, (*string)(nil)},
		"API-DEF-15 image":      {"an image is for amd64", profile.Spec.MachineImages[0].Versions[0].Architectures, []string{"amd64"}},
		"API-DEF-15 runtime":    {"it brings containerd", profile.Spec.MachineImages[0].Versions[0].CRI[0].Name, gardencorev1beta1.CRINameContainerd},
		"API-DEF-15 usable":     {"a machine type can be used", *profile.Spec.MachineTypes[0].Usable, true},
		"API-DEF-15 strategy":   {"images may jump to the newest version", *profile.Spec.MachineImages[0].UpdateStrategy, gardencorev1beta1.MachineImageUpdateStrategyMajor},
		"API-DEF-16 primary":    {"who is registered is in charge", *registration.Spec.Resources[0].Primary, true},
		"API-DEF-16 timeout":    {"an extension has three minutes", registration.Spec.Resources[0].ReconcileTimeout.Duration, 3 * time.Minute},
		"API-DEF-16 cluster":    {"it is for shoots", registration.Spec.Resources[0].ClusterCompatibility, []gardencorev1beta1.ClusterType{"shoot"}},
		"API-DEF-16 exposure":   {"addresses are kept up to date", *registration.Spec.Resources[1].ContinuousEndpointUpdate, true},
		"API-DEF-17 secret":     {"the Secret is near", binding.SecretRef.Namespace, "garden-a"},
		"API-DEF-17 quota":      {"so is the Quota", binding.Quotas[0].Namespace, "garden-a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
