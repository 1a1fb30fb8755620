// SPDX-License-Identifier: Apache-2.0

// Package shootresourcereservation sets the resources of machines of new Shoots that are reserved for the node itself, if
// they are not given: the same amount for all machines, or by a formula that depends on the size of the machine. Updates
// without a reservation keep it (API-SRR-1, API-DEF-8).
package shootresourcereservation

import (
	"context"
	"fmt"

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
	if a.GetOperation() == admission.Update {
		if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok {
			keep(&shoot.Spec, &old.Spec)
		}
		return nil
	}
	selected, err := r.selects(shoot)
	if err != nil {
		return world.Answer(a, err)
	}
	if !r.config.UseGKEFormula || !selected {
		reserve(&shoot.Spec.Kubernetes.Kubelet, fixed())
		return nil
	}
	return r.world.Decide(a, func(v world.View) error { return reserveByMachine(ctx, v, &shoot.Spec, shoot.Namespace) })
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
		if pool == nil || pool.Kubernetes == nil || pool.Machine.Type != w.Machine.Type {
			continue
		}
		was := reservation(pool.Kubernetes.Kubelet)
		if was == nil || w.Kubernetes == nil || w.Kubernetes.Kubelet == nil {
			continue
		}
		reserve(&w.Kubernetes.Kubelet, *was.DeepCopy())
	}
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

// reserveByMachine sets a reservation in each pool. The kubelet settings of a pool replace those of the Shoot as a whole, so
// a pool without any gets a copy of them first. The ShootValidator rejects machine types that are not offered.
func reserveByMachine(ctx context.Context, v world.View, s *gardencorev1beta1.ShootSpec, namespace string) error {
	profile, err := v.ProfileOf(ctx, s, namespace)
	if err != nil || profile == nil {
		return err
	}
	for i := range s.Provider.Workers {
		w := &s.Provider.Workers[i]
		t := machineType(&profile.Spec, w.Machine.Type)
		if t == nil {
			continue
		}
		if w.Kubernetes == nil {
			w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{}
		}
		if w.Kubernetes.Kubelet == nil {
			w.Kubernetes.Kubelet = s.Kubernetes.Kubelet.DeepCopy()
		}
		reserve(&w.Kubernetes.Kubelet, byFormula(t.CPU, t.Memory))
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
