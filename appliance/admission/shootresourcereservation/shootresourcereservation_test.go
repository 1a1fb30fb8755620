// SPDX-License-Identifier: Apache-2.0

package shootresourcereservation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootresourcereservation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot         = gardencorev1beta1.Shoot
	configuration = gardenconfigv1alpha1.ShootResourceReservationConfiguration
)

func machine(cpu, memory string) func(*gardencorev1beta1.CloudProfile) {
	return func(p *gardencorev1beta1.CloudProfile) {
		p.Spec.MachineTypes[0].CPU, p.Spec.MachineTypes[0].Memory = resource.MustParse(cpu), resource.MustParse(memory)
	}
}

func text(k *gardencorev1beta1.KubeletConfig) string {
	if k == nil || k.KubeReserved == nil {
		return ""
	}
	r := k.KubeReserved
	return r.CPU.String() + " " + r.Memory.String() + " " + r.PID.String()
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	formula := &configuration{UseGKEFormula: true}
	selective := &configuration{UseGKEFormula: true, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
	plain := func(*shoot) {}
	reserving := func(s *shoot) {
		s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(7)), KubeReserved: &gardencorev1beta1.KubeletConfigReserved{Memory: new(resource.MustParse("2Gi"))}}
	}
	for name, tc := range map[string]struct {
		reason  string
		config  *configuration
		profile func(*gardencorev1beta1.CloudProfile)
		change  func(*shoot)
		// shoot and pool are what is set aside: processor, memory, processes.
		shoot, pool string
	}{
		"API-SRR-1 fixed":      {"machines are alike", nil, machine("2", "4Gi"), plain, "80m 1Gi 20k", ""},
		"API-SRR-1 given":      {"what is given stays", nil, machine("2", "4Gi"), reserving, "80m 2Gi 20k", ""},
		"API-SRR-1 workerless": {"without machines there is nothing to keep", nil, machine("2", "4Gi"), func(s *shoot) { s.Spec.Provider.Workers = nil }, "", ""},
		"API-SRR-1 small":      {"a small one gives little", formula, machine("1", "512Mi"), plain, "", "60m 255Mi 20k"},
		"API-SRR-1 two":        {"two cores, a quarter of 4Gi", formula, machine("2", "4Gi"), plain, "", "70m 1Gi 20k"},
		"API-SRR-1 large":      {"16 cores, 64Gi", formula, machine("16", "64Gi"), plain, "", "110m 5884105195 20k"},
		"API-SRR-1 huge":       {"beyond 128Gi only a little more", formula, machine("4", "228Gi"), plain, "", "80m 12154757447 20k"},
		"API-SRR-1 pool":       {"what the shoot gives counts for its pools", formula, machine("2", "8Gi"), reserving, "<nil> 2Gi <nil>", "70m 2Gi 20k"},
		"API-SRR-1 unselected": {"the formula may be for some", selective, machine("2", "8Gi"), plain, "80m 1Gi 20k", ""},
		"API-SRR-1 selected":   {"others have it", selective, machine("2", "8Gi"), func(s *shoot) { s.Labels = map[string]string{"a": "b"} }, "", "70m 1932735283 20k"},
		"API-SRR-1 unknown":    {"a type that is not offered is left alone", formula, func(p *gardencorev1beta1.CloudProfile) { p.Spec.MachineTypes[0].Name = "other" }, plain, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, []kind.Object{admissiontest.Profile(tc.profile)}...)
			s := admissiontest.Shoot(tc.change)
			if err := g.Ask(shootresourcereservation.New(tc.config)(g.World), admissiontest.Request{Object: s}); err != nil {
				t.Fatal(err)
			}
			pool := ""
			if len(s.Spec.Provider.Workers) > 0 && s.Spec.Provider.Workers[0].Kubernetes != nil {
				pool = text(s.Spec.Provider.Workers[0].Kubernetes.Kubelet)
			}
			if diff := cmp.Diff([]string{tc.shoot, tc.pool}, []string{text(s.Spec.Kubernetes.Kubelet), pool}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOwnKubelet(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Profile())
	s := admissiontest.Shoot(func(s *shoot) { s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(7))} })
	if err := g.Ask(shootresourcereservation.New(&configuration{UseGKEFormula: true})(g.World), admissiontest.Request{Object: s}); err != nil {
		t.Fatal(err)
	}
	if got := s.Spec.Provider.Workers[0].Kubernetes.Kubelet; got.MaxPods == nil || *got.MaxPods != 7 {
		t.Errorf("API-SRR-1: a pool keeps what the shoot sets, got %v", got)
	}
	err := g.Ask(shootresourcereservation.New(&configuration{UseGKEFormula: true})(g.World), admissiontest.Request{
		Object: admissiontest.Shoot(func(s *shoot) { s.Spec.CloudProfile.Name = "other" }),
	})
	if err == nil {
		t.Error("API-SRR-1: without the profile the formula cannot be used")
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Profile())
	rule := shootresourcereservation.New(nil)(g.World)
	reserving := func(s *shoot) {
		s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{
			CPU: new(resource.MustParse("80m")), Memory: new(resource.MustParse("1Gi")), PID: new(resource.MustParse("20k")),
		}}
	}
	s := admissiontest.Shoot()
	if err := g.Ask(rule, admissiontest.Request{Object: s, Old: admissiontest.Shoot(reserving)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("80m 1Gi 20k", text(s.Spec.Kubernetes.Kubelet)); diff != "" {
		t.Errorf("API-DEF-8: an update without kubelet keeps what is set aside (-want +got):\n%s", diff)
	}
	s = admissiontest.Shoot()
	if err := g.Ask(rule, admissiontest.Request{Object: s, Old: admissiontest.Shoot()}); err != nil {
		t.Fatal(err)
	}
	if s.Spec.Kubernetes.Kubelet != nil {
		t.Errorf("API-DEF-8: nothing is added to machines that are there, got %v", s.Spec.Kubernetes.Kubelet)
	}
}

// TestPoolsLater changes the pools of a shoot whose reservations are computed.
func TestPoolsLater(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Profile(machine("2", "4Gi")))
	computed := func(cpu string) *gardencorev1beta1.WorkerKubernetes {
		return &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{
			CPU: new(resource.MustParse(cpu)), Memory: new(resource.MustParse("2Gi")), PID: new(resource.MustParse("20k")),
		}}}
	}
	for name, tc := range map[string]struct {
		reason string
		config *configuration
		change func(*shoot)
		old    *gardencorev1beta1.WorkerKubernetes
		want   string
	}{
		"API-SRR-1 omitted":     {"a manifest without reservations keeps what was computed", &configuration{UseGKEFormula: true}, func(*shoot) {}, computed("65m"), "65m 2Gi 20k"},
		"API-SRR-1 changed":     {"what is given counts", &configuration{UseGKEFormula: true}, func(s *shoot) { s.Spec.Provider.Workers[0].Kubernetes = computed("90m") }, computed("65m"), "90m 2Gi 20k"},
		"API-SRR-1 none before": {"nothing is added to machines that are there", &configuration{UseGKEFormula: true}, func(*shoot) {}, nil, ""},
		"API-SRR-1 new pool":    {"what an update adds is computed", &configuration{UseGKEFormula: true}, func(s *shoot) { s.Spec.Provider.Workers[0].Name = "two" }, computed("65m"), "70m 1Gi 20k"},
		"API-SRR-1 not asked":   {"where that is asked for", nil, func(s *shoot) { s.Spec.Provider.Workers[0].Name = "two" }, computed("65m"), ""},
		"API-SRR-1 of the shoot": {
			"a pool that gives up its own has that of the shoot", nil,
			func(s *shoot) { s.Spec.Kubernetes.Kubelet = computed("80m").Kubelet }, computed("65m"), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, s := admissiontest.Shoot(), admissiontest.Shoot(tc.change)
			old.Spec.Provider.Workers[0].Kubernetes = tc.old
			if err := g.Ask(shootresourcereservation.New(tc.config)(g.World), admissiontest.Request{Object: s, Old: old}); err != nil {
				t.Fatal(err)
			}
			got := ""
			if pool := s.Spec.Provider.Workers[0].Kubernetes; pool != nil {
				got = text(pool.Kubelet)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
