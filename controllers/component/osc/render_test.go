// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfigv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func values() osc.Values {
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Kubernetes.Version = "1.36.3"
	shoot.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")}
	return osc.Values{
		Facts: facts.Shoot{Shoot: shoot, Namespace: "shoot--dev--a"}, Server: "https://api.a.dev.internal.terrarium.local",
		CA: []byte("cluster authority\n"), ClientCA: []byte("client authority\n"),
		Pool: &gardencorev1beta1.Worker{Name: "small", Machine: gardencorev1beta1.Machine{
			Type: "local", Image: &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")},
		}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	o, err := osc.Render(values())
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "default.yaml", []client.Object{o})
}

func nameOf(v osc.Values) (string, error) { return osc.Name(v.Facts, v.Pool) }

func TestNameChangesWithWhatNeedsNewMachines_EXT_OSC_2(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*osc.Values)
		other  bool
	}{
		"Patch": {reason: "a patch of Kubernetes keeps the machines", change: func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Version = "1.36.4" }},
		"Minor": {reason: "a minor of Kubernetes needs new machines", change: func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Version = "1.37.0" }, other: true},
		"Type":  {reason: "another machine type", change: func(v *osc.Values) { v.Pool.Machine.Type = "large" }, other: true},
		"Image": {reason: "another version of the image", change: func(v *osc.Values) { v.Pool.Machine.Image.Version = new("1.0.1") }, other: true},
		"Pool": {
			reason: "also of the pool alone", change: func(v *osc.Values) { v.Pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new("1.35.0")} }, other: true,
		},
		"Volume":  {reason: "another disk", change: func(v *osc.Values) { v.Pool.Volume = &gardencorev1beta1.Volume{Size: "20Gi"} }, other: true},
		"Runtime": {reason: "another container runtime", change: func(v *osc.Values) { v.Pool.CRI = &gardencorev1beta1.CRI{Name: "containerd"} }, other: true},
		"Maximum": {reason: "more machines of the same kind", change: func(v *osc.Values) { v.Pool.Maximum = 9 }},
	}
	base, err := nameOf(values())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values()
			tc.change(&v)
			got, err := nameOf(v)
			if err != nil || (got != base) != tc.other {
				t.Errorf("%s\nName(...) = %q, %v; before %q", tc.reason, got, err, base)
			}
		})
	}
}

func keyOf(t *testing.T, v osc.Values) string {
	t.Helper()
	o, err := osc.Render(v)
	if err != nil {
		t.Fatal(err)
	}

	return o.Labels["worker.gardener.cloud/gardener-node-agent-secret-name"]
}

func TestRotationsReplaceMachinesOnce_GLET_CRED_7_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	first, second := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	rotated := func(at *metav1.Time, pending ...gardencorev1beta1.PendingWorkersRollout) func(*osc.Values) {
		return func(v *osc.Values) {
			v.Facts.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
				CertificateAuthorities: &gardencorev1beta1.CARotation{LastInitiationTime: at, PendingWorkersRollouts: pending},
				ServiceAccountKey:      &gardencorev1beta1.ServiceAccountKeyRotation{LastInitiationTime: at, PendingWorkersRollouts: pending},
			}}
		}
	}
	authority := func(v *osc.Values) { v.CA, v.ClientCA = []byte("other\n"), []byte("other\n") }
	key := func(changes ...func(*osc.Values)) string {
		v := values()
		for _, change := range changes {
			change(&v)
		}

		return keyOf(t, v)
	}
	base, once := key(), key(rotated(&first))
	for _, tc := range []struct {
		reason string
		got    string
		before string
		rolls  bool
	}{
		{"a rotation begins", once, base, true},
		{"the next one", key(rotated(&second)), once, true},
		{"one that leaves out the pool", key(rotated(&second, gardencorev1beta1.PendingWorkersRollout{Name: "small", LastInitiationTime: &first})), once, false},
		{"the first one, which leaves out the pool", key(rotated(&first, gardencorev1beta1.PendingWorkersRollout{Name: "small"})), base, false},
		{"one that leaves out another pool", key(rotated(&second, gardencorev1beta1.PendingWorkersRollout{Name: "large"})), once, true},
		{"an authority comes or goes", key(rotated(&first), authority), once, false},
		{"somebody wants new machines", key(func(v *osc.Values) {
			v.Facts.Shoot.Status.ManualWorkerPoolRollout = &gardencorev1beta1.ManualWorkerPoolRollout{
				PendingWorkersRollouts: []gardencorev1beta1.PendingWorkersRollout{{Name: "small", LastInitiationTime: &first}},
			}
		}), base, true},
		{"another server", key(func(v *osc.Values) { v.Server = "https://other" }), base, true},
		{"another setting of the kubelet", key(func(v *osc.Values) {
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(9))}
		}), base, false},
		{"another share of the processors", key(func(v *osc.Values) {
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new("static")}
		}), base, true},
		{"more is reserved", key(func(v *osc.Values) {
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{
				KubeReserved: &gardencorev1beta1.KubeletConfigReserved{CPU: new(resource.MustParse("200m"))},
			}
		}), base, true},
		{"another limit for evictions", key(func(v *osc.Values) {
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{
				EvictionHard: &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("300Mi")},
			}
		}), base, true},
	} {
		if rolls := tc.got != tc.before; rolls != tc.rolls {
			t.Errorf("%s: machines are replaced: %t, want %t", tc.reason, rolls, tc.rolls)
		}
	}
}

func TestKubeletSettings(t *testing.T) {
	t.Parallel()
	shoot := &gardencorev1beta1.KubeletConfig{
		MaxPods: new(int32(50)), KubeReserved: &gardencorev1beta1.KubeletConfigReserved{Memory: new(resource.MustParse("2Gi"))},
		EvictionHard:            &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("200Mi")},
		EvictionSoft:            &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("300Mi"), NodeFSAvailable: new("10%")},
		EvictionSoftGracePeriod: &gardencorev1beta1.KubeletConfigEvictionSoftGracePeriod{NodeFSAvailable: &metav1.Duration{Duration: 90 * time.Second}},
	}
	pool := &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(20))}
	type settings struct {
		MaxPods                     int32
		Reserved, Hard, Soft, Grace map[string]string
	}
	hard := func(memory string) map[string]string {
		return map[string]string{
			"memory.available": memory, "nodefs.available": "5%", "nodefs.inodesFree": "5%", "imagefs.available": "5%", "imagefs.inodesFree": "5%",
		}
	}
	cases := map[string]struct {
		reason string
		pool   *gardencorev1beta1.KubeletConfig
		want   settings
	}{
		"Shoot": {
			reason: "the shoot's settings count for a pool without its own, soft limits only with a grace period",
			want: settings{
				MaxPods: 50, Reserved: map[string]string{"cpu": "80m", "memory": "2Gi", "pid": "20k"}, Hard: hard("200Mi"),
				Soft: map[string]string{"nodefs.available": "10%"}, Grace: map[string]string{"nodefs.available": "1m30s"},
			},
		},
		"Pool": {
			reason: "a pool's own settings take the place of the shoot's", pool: pool,
			want: settings{MaxPods: 20, Reserved: map[string]string{"cpu": "80m", "memory": "1Gi", "pid": "20k"}, Hard: hard("100Mi")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values()
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = shoot
			v.Pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: tc.pool}
			c := kubeletSettings(t, v)
			got := settings{MaxPods: c.MaxPods, Reserved: c.KubeReserved, Hard: c.EvictionHard, Soft: c.EvictionSoft, Grace: c.EvictionSoftGracePeriod}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nconfiguration of the kubelet (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKubeletSwapAndImages is about what the shoot says for all pools and what a pool says for itself.
func TestKubeletSwapAndImages(t *testing.T) {
	t.Parallel()
	listed := &gardencorev1beta1.KubeletConfig{
		FailSwapOn: new(false), MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{SwapBehavior: new(gardencorev1beta1.SwapBehaviorLimitedSwap)},
		SingleProcessOOMKill:                   new(true),
		ImagePullCredentialsVerificationPolicy: new(gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages),
		PreloadedImagesVerificationAllowlist:   []string{"registry.example.com/base/*"},
	}
	type settings struct {
		Swap, Policy string
		Single       *bool
		Allowed      []string
	}
	cases := map[string]struct {
		reason      string
		shoot, pool *gardencorev1beta1.KubeletConfig
		want        settings
	}{
		"Shoot": {
			reason: "every pool gets what the shoot says", shoot: listed,
			want: settings{Swap: "LimitedSwap", Policy: "NeverVerifyAllowlistedImages", Single: new(true), Allowed: []string{"registry.example.com/base/*"}},
		},
		"Pool": {
			reason: "a pool's own settings take the place of the shoot's", shoot: listed,
			pool: &gardencorev1beta1.KubeletConfig{SingleProcessOOMKill: new(false)}, want: settings{Single: new(false)},
		},
		"OwnOfThePool": {
			reason: "a pool may have them where the shoot has none", pool: listed,
			want: settings{Swap: "LimitedSwap", Policy: "NeverVerifyAllowlistedImages", Single: new(true), Allowed: []string{"registry.example.com/base/*"}},
		},
		"StrayList": {
			reason: "a kubelet does not start with a list that its policy does not look at",
			shoot: &gardencorev1beta1.KubeletConfig{
				ImagePullCredentialsVerificationPolicy: new(gardencorev1beta1.ImagePullCredentialsVerificationPolicyAlwaysVerify),
				PreloadedImagesVerificationAllowlist:   []string{"a"},
			},
			want: settings{Policy: "AlwaysVerify"},
		},
		"None": {reason: "the kubelet keeps its own defaults", shoot: &gardencorev1beta1.KubeletConfig{MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values()
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = tc.shoot
			v.Pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: tc.pool}
			c := kubeletSettings(t, v)
			got := settings{
				Swap: c.MemorySwap.SwapBehavior, Policy: string(c.ImagePullCredentialsVerificationPolicy), Single: c.SingleProcessOOMKill,
				Allowed: c.PreloadedImagesVerificationAllowlist,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nconfiguration of the kubelet (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func kubeletSettings(t *testing.T, v osc.Values) (c kubeletconfigv1beta1.KubeletConfiguration) {
	t.Helper()
	o, err := osc.Render(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(o.Spec.Files[0].Content.Inline.Data), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNodesAskTheirCache_EXT_OSC_2 is about whom pods ask for names, which a kubelet learns at its start.
func TestNodesAskTheirCache_EXT_OSC_2(t *testing.T) {
	t.Parallel()
	v := values()
	if diff := cmp.Diff([]string{"10.101.0.10"}, kubeletSettings(t, v).ClusterDNS); diff != "" {
		t.Errorf("DNS servers without a cache (-want +got):\n%s", diff)
	}
	before := keyOf(t, v)
	v.Facts.Shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{Enabled: true}}
	if diff := cmp.Diff([]string{"169.254.20.10"}, kubeletSettings(t, v).ClusterDNS); diff != "" {
		t.Errorf("DNS servers with a cache (-want +got):\n%s", diff)
	}
	if keyOf(t, v) == before {
		t.Error("pods do not learn of the cache, because the machines are not replaced")
	}
}
