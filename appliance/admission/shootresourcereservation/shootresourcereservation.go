// SPDX-License-Identifier: Apache-2.0

// Package shootresourcereservation sets the resources of machines of new Shoots that are reserved for the node itself, if
// they are not given: the same amount for all machines, or by a formula that depends on the size of the machine. Updates
// without a reservation keep it, and pools that they add get one by the formula (API-SRR-1, API-DEF-8).
package shootresourcereservation

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world  *world.World
	config gardenconfigv1alpha1.ShootResourceReservationConfiguration
}

// New returns the constructor of the plugin; without a configuration the reservation is the same for all machines.
func New(c *gardenconfigv1alpha1.ShootResourceReservationConfiguration) func(*world.World) admission.Interface {
	if c == nil {
		c = &gardenconfigv1alpha1.ShootResourceReservationConfiguration{}
	}
	return func(w *world.World) admission.Interface {
		return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w, config: *c}
	}
}

var _ admission.MutationInterface = &rule{}

// Admit sets the reservations that the Shoot does not have.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || shoot.DeletionTimestamp != nil || query.Workerless(&shoot.Spec) {
		return nil
	}
	selected, err := r.selects(shoot)
	if err != nil {
		return world.Answer(a, err)
	}
	formula := r.config.UseGKEFormula && selected
	old, updates := a.GetOldObject().(*gardencorev1beta1.Shoot)
	switch {
	case updates:
		keep(&shoot.Spec, &old.Spec)
	case !formula:
		reserve(&shoot.Spec.Kubernetes.Kubelet, fixed())
	}
	added := func(w *gardencorev1beta1.Worker) bool {
		return !updates || !there(w, &old.Spec) && !complete(&shoot.Spec)
	}
	if !formula || !slices.ContainsFunc(shoot.Spec.Provider.Workers, func(w gardencorev1beta1.Worker) bool { return added(&w) }) {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error { return reserveByMachine(ctx, v, shoot, added) })
}

// keep restores a reservation that an update omits, because manifests without reservations do not mean to remove it. It adds
// nothing to existing machines, which would have to be replaced.
func keep(s, old *gardencorev1beta1.ShootSpec) {
	if was := reservation(old.Kubernetes.Kubelet); was != nil {
		reserve(&s.Kubernetes.Kubelet, *was.DeepCopy())
	}
	for i := range s.Provider.Workers {
		w := &s.Provider.Workers[i]
		pool := query.Pool(old, w.Name)
		if pool == nil || pool.Kubernetes == nil || !there(w, old) {
			continue
		}
		was := reservation(pool.Kubernetes.Kubelet)
		if was == nil || !own(w) && complete(s) {
			continue
		}
		reserve(kubeletOf(w, s), *was.DeepCopy())
	}
}

// there reports whether a shoot had a pool with the same machines before.
func there(w *gardencorev1beta1.Worker, old *gardencorev1beta1.ShootSpec) bool {
	pool := query.Pool(old, w.Name)
	return pool != nil && pool.Machine.Type == w.Machine.Type
}

// own reports whether a pool has kubelet settings of its own.
func own(w *gardencorev1beta1.Worker) bool { return w.Kubernetes != nil && w.Kubernetes.Kubelet != nil }

// complete reports whether pools without kubelet settings of their own have a reservation from the shoot.
func complete(s *gardencorev1beta1.ShootSpec) bool {
	r := reservation(s.Kubernetes.Kubelet)
	return r != nil && r.CPU != nil && r.Memory != nil && r.PID != nil
}

// kubeletOf returns the kubelet settings of a pool. They replace those of the shoot as a whole, so a pool without any gets a copy of them.
func kubeletOf(w *gardencorev1beta1.Worker, s *gardencorev1beta1.ShootSpec) **gardencorev1beta1.KubeletConfig {
	if w.Kubernetes == nil {
		w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{}
	}
	if w.Kubernetes.Kubelet == nil {
		w.Kubernetes.Kubelet = s.Kubernetes.Kubelet.DeepCopy()
	}
	return &w.Kubernetes.Kubelet
}

func reservation(k *gardencorev1beta1.KubeletConfig) *gardencorev1beta1.KubeletConfigReserved {
	if k == nil {
		return nil
	}
	return k.KubeReserved
}

// selects reports whether the formula applies to a Shoot.
func (r *rule) selects(s *gardencorev1beta1.Shoot) (bool, error) {
	if r.config.Selector == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(r.config.Selector)
	if err != nil {
		return false, fmt.Errorf("parse selector of ShootResourceReservation: %w", err)
	}
	return selector.Matches(labels.Set(s.Labels)), nil
}

// reserveByMachine sets a reservation in each pool that is added. The ShootValidator rejects machine types that are not offered.
func reserveByMachine(ctx context.Context, v world.View, shoot *gardencorev1beta1.Shoot, added func(*gardencorev1beta1.Worker) bool) error {
	profile, err := v.ProfileOf(ctx, &shoot.Spec, shoot.Namespace)
	if err != nil || profile == nil {
		return err
	}
	for i := range shoot.Spec.Provider.Workers {
		w := &shoot.Spec.Provider.Workers[i]
		if t := machineType(&profile.Spec, w.Machine.Type); t != nil && added(w) {
			reserve(kubeletOf(w, &shoot.Spec), byFormula(t.CPU, t.Memory))
		}
	}
	return nil
}

func machineType(p *gardencorev1beta1.CloudProfileSpec, name string) *gardencorev1beta1.MachineType {
	for i := range p.MachineTypes {
		if p.MachineTypes[i].Name == name {
			return &p.MachineTypes[i]
		}
	}
	return nil
}

// reserve sets the resources of a kubelet's reservation that are not given.
func reserve(kubelet **gardencorev1beta1.KubeletConfig, amount gardencorev1beta1.KubeletConfigReserved) {
	if *kubelet == nil {
		*kubelet = &gardencorev1beta1.KubeletConfig{}
	}
	has := (*kubelet).KubeReserved
	if has == nil {
		(*kubelet).KubeReserved = &amount
		return
	}
	if has.CPU == nil {
		has.CPU = amount.CPU
	}
	if has.Memory == nil {
		has.Memory = amount.Memory
	}
	if has.PID == nil {
		has.PID = amount.PID
	}
}
