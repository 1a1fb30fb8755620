// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestValidateShootInPlace(t *testing.T) {
	t.Parallel()
	const at = "spec.provider.workers[0]"
	inPlace := pool(func(w *gardencorev1beta1.Worker) {
		w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
	})
	updating := func(s *gardencorev1beta1.Shoot) {
		s.Status.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdatesStatus{
			PendingWorkerUpdates: &gardencorev1beta1.PendingWorkerUpdates{AutoInPlaceUpdate: []string{"worker"}},
		}
	}
	caching := func(s *gardencorev1beta1.Shoot) {
		s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{Enabled: true}}
	}
	rolling := pool(func(w *gardencorev1beta1.Worker) {
		w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate)
	})
	ownKubelet := pool(func(w *gardencorev1beta1.Worker) {
		w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{}}
	})
	proxied := func(mode *gardencorev1beta1.ProxyMode) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Mode: mode}
		}
	}
	hosted := func(pool int) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			another(s)
			s.Namespace, s.Spec.Provider.Workers[pool].ControlPlane = "garden", &gardencorev1beta1.WorkerControlPlane{}
		}
	}
	checkShootUpdates(t, map[string]shootUpdate{
		"into":   {reason: "machines are replaced or stay", now: changes{inPlace}, want: []string{at + ".updateStrategy: FieldValueInvalid"}},
		"out of": {reason: "either way", old: changes{inPlace}, want: []string{at + ".updateStrategy: FieldValueInvalid"}},
		"machine": {
			reason: "pools that are kept remain what they are", old: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.CRI = &gardencorev1beta1.CRI{Name: "b"} })},
			now: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) {
				w.Machine.Type, w.Machine.Image.Name = "larger", "other"
				w.Volume = &gardencorev1beta1.Volume{Size: "1Gi"}
				w.CRI = &gardencorev1beta1.CRI{Name: "containerd"}
			})},
			want: []string{
				at + ".cri.name: FieldValueInvalid", at + ".machine.image.name: FieldValueInvalid", at + ".machine.type: FieldValueInvalid",
				at + ".volume: FieldValueInvalid",
			},
		},
		"by hand": {
			reason: "nor do they become others as their owner begins to update them by hand", old: changes{inPlace},
			now: changes{pool(func(w *gardencorev1beta1.Worker) {
				w.UpdateStrategy, w.Machine.Type = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate), "larger"
			})},
			want: []string{at + ".machine.type: FieldValueInvalid"},
		},
		"image": {
			reason: "and do not go back", old: changes{inPlace},
			now:  changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image.Version = new("0.9.0") })},
			want: []string{at + ".machine.image.version: FieldValueForbidden"},
		},
		"pending": {
			reason: "one update after the other", old: changes{inPlace, updating},
			now:  changes{inPlace, updating, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image.Version = new("1.1.0") })},
			want: []string{at + ": FieldValueForbidden"},
		},
		"pending kubelet": {
			reason: "which a setting of the shoot is too", old: changes{inPlace, updating},
			now:  changes{inPlace, updating, kubelet(gardencorev1beta1.KubeletConfig{MaxPods: new(int32(10))})},
			want: []string{at + ": FieldValueForbidden"},
		},
		"forced": {
			reason: "unless it has to be", old: changes{inPlace, updating},
			now: changes{
				inPlace, updating, annotated("gardener.cloud/operation", "force-in-place-update"),
				pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image.Version = new("1.1.0") }),
			},
		},
		"DNS cache": {
			reason: "older machines do not learn whom to ask", old: changes{inPlace, onVersion("1.33.1")}, now: changes{inPlace, onVersion("1.33.1"), caching},
			want: []string{"spec.systemComponents.nodeLocalDNS: FieldValueForbidden"},
		},
		"pending other": {
			reason: "pools that are not being updated can change", old: changes{inPlace, another, updating},
			now: changes{inPlace, another, updating, func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[1].Machine.Image.Version = new("1.1.0") }},
		},
		"pending labels": {reason: "and a pool that is, can be written", old: changes{inPlace, updating}, now: changes{inPlace, updating, annotated("a", "b")}},
		"pending rolling": {
			reason: "machines that are replaced do not wait", old: changes{updating}, now: changes{pool(func(w *gardencorev1beta1.Worker) { w.Maximum = 2 })},
		},
		"pending new": {
			reason: "nor does a pool that is new", old: changes{updating, pool(func(w *gardencorev1beta1.Worker) { w.Name = "former" })}, now: changes{inPlace},
		},
		"pending version": {
			reason: "another version is a change of its pools", old: changes{inPlace, updating, onVersion("1.36.2")}, now: changes{inPlace}, want: []string{at + ": FieldValueForbidden"},
		},
		"pending own kubelet": {
			reason: "the settings of the shoot do not matter to pools with their own", old: changes{inPlace, ownKubelet, updating},
			now: changes{inPlace, ownKubelet, kubelet(gardencorev1beta1.KubeletConfig{MaxPods: new(int32(10))})},
		},
		"pending own version": {
			reason: "but to those that have a version only", old: changes{inPlace, poolVersion("1.36.3"), updating},
			now:  changes{inPlace, poolVersion("1.36.3"), kubelet(gardencorev1beta1.KubeletConfig{MaxPods: new(int32(10))})},
			want: []string{at + ": FieldValueForbidden"},
		},
		"pending no more": {
			reason: "an update that is done is over", old: changes{inPlace, func(s *gardencorev1beta1.Shoot) { s.Status.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdatesStatus{} }},
			now: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.Maximum = 2 })},
		},
		"rolling": {
			reason: "machines that are replaced can become others", old: changes{rolling},
			now: changes{rolling, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Type = "larger" })},
		},
		"open": {
			reason: "what was left open can be chosen", old: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image.Version = nil })},
			now: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.CRI = &gardencorev1beta1.CRI{Name: "containerd"} })},
		},
		"opened": {
			reason: "and left open again, as far as it can be", old: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.CRI = &gardencorev1beta1.CRI{Name: "containerd"} })},
			now:  changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image = nil })},
			want: []string{at + ".machine.image: FieldValueRequired"},
		},
		"no version": {
			reason: "an image has a version", old: changes{inPlace}, now: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image.Version = nil })},
			want: []string{at + ".machine.image.version: FieldValueRequired"},
		},
		"first image":       {reason: "an image can be chosen", old: changes{inPlace, pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image = nil })}, now: changes{inPlace}},
		"DNS cache stays":   {reason: "a cache that stays is no change", old: changes{inPlace, onVersion("1.33.1"), caching}, now: changes{inPlace, onVersion("1.33.1"), caching}},
		"DNS cache rolling": {reason: "machines that are replaced learn it in any version", old: changes{onVersion("1.33.1")}, now: changes{onVersion("1.33.1"), caching}},
		"DNS cache IPVS": {
			reason: "with IPVS no machine does", old: changes{inPlace, proxied(new(gardencorev1beta1.ProxyModeIPVS))}, now: changes{inPlace, proxied(new(gardencorev1beta1.ProxyModeIPVS)), caching},
			want: []string{"spec.systemComponents.nodeLocalDNS: FieldValueForbidden"},
		},
		"DNS cache IPTables": {
			reason: "with IPTables each does", old: changes{inPlace, proxied(new(gardencorev1beta1.ProxyModeIPTables))}, now: changes{inPlace, proxied(new(gardencorev1beta1.ProxyModeIPTables)), caching},
		},
		"DNS cache default": {reason: "which is the default", old: changes{inPlace, proxied(nil)}, now: changes{inPlace, proxied(nil), caching}},
		"DNS cache later":   {reason: "newer ones do", old: changes{inPlace}, now: changes{inPlace, caching}},
		"self-hosted pool": {
			reason: "nor its control plane to other machines", old: changes{hosted(0)}, now: changes{hosted(1)}, want: []string{"spec.provider.workers: FieldValueForbidden"},
		},
		"self-hosted": {
			reason: "a shoot does not move its control plane onto its own machines",
			now: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
			}},
			want: []string{at[:len("spec.provider.workers")] + ": FieldValueForbidden", at + ".controlPlane: FieldValueForbidden"},
		},
	})
}
