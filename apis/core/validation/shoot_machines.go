// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// maxMinorsBehind is how far kubelets may be behind their API server.
const maxMinorsBehind = 3

// taints checks the taints of a pool (API-VALSHOOT-8).
func taints(all []corev1.Taint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	pairs := make([]string, 0, len(all))
	for i, t := range all {
		here := path.Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, here.Child("key"))...)
		for _, message := range validation.IsValidLabelValue(t.Value) {
			errs = append(errs, field.Invalid(here.Child("value"), t.Value, message))
		}
		errs = append(errs, oneOf(t.Effect, here.Child("effect"),
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		pairs = append(pairs, t.Key+":"+string(t.Effect))
	}
	return append(errs, duplicates(pairs, path.Index)...)
}

// machineSettings checks how the machines of a pool are set up, updated and scaled (API-VALSHOOT-8, 17).
func machineSettings(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	errs := caBundle(w.CABundle, path.Child("caBundle"))
	errs = append(errs, atLeast(w.Priority, minPriority, path.Child("priority"))...)
	if w.UpdateStrategy != nil {
		errs = append(errs, oneOf(*w.UpdateStrategy, path.Child("updateStrategy"), gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate,
			gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate, gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)...)
	}
	if w.CRI != nil {
		errs = append(errs, containerRuntime(*w.CRI, path.Child("cri"))...)
	}
	if m := w.MachineControllerManager; m != nil {
		here := path.Child("machineControllerManager")
		errs = append(errs, lasting([]span{
			{"inPlaceUpdateTimeout", m.InPlaceUpdateTimeout},
			{"machineCreationTimeout", m.MachineCreationTimeout},
			{"machineDrainTimeout", m.MachineDrainTimeout},
			{"machineHealthTimeout", m.MachineHealthTimeout},
			{"machinePreserveTimeout", m.MachinePreserveTimeout},
		}, here)...)
		errs = append(errs, notNegative(m.MaxEvictRetries, here.Child("maxEvictRetries"))...)
		errs = append(errs, notNegative(m.AutoPreserveFailedMachineMax, here.Child("autoPreserveFailedMachineMax"))...)
	}
	if a := w.ClusterAutoscaler; a != nil {
		here := path.Child("clusterAutoscaler")
		errs = append(errs, lasting([]span{
			{"maxNodeProvisionTime", a.MaxNodeProvisionTime},
			{"scaleDownUnneededTime", a.ScaleDownUnneededTime},
			{"scaleDownUnreadyTime", a.ScaleDownUnreadyTime},
		}, here)...)
		errs = append(errs, shares([]share{
			{"scaleDownGpuUtilizationThreshold", a.ScaleDownGPUUtilizationThreshold},
			{"scaleDownUtilizationThreshold", a.ScaleDownUtilizationThreshold},
		}, here)...)
	}
	return errs
}

func containerRuntime(c gardencorev1beta1.CRI, path *field.Path) field.ErrorList {
	errs := oneOf(c.Name, path.Child("name"), gardencorev1beta1.CRINameContainerd)
	types := make([]string, 0, len(c.ContainerRuntimes))
	for i, r := range c.ContainerRuntimes {
		here := path.Child("containerRuntimes").Index(i)
		errs = append(errs, required(r.Type, here.Child("type"), "a container runtime")...)
		types = append(types, r.Type)
	}
	return append(errs, duplicates(types, path.Child("containerRuntimes").Index)...)
}

// poolVersion checks the version and the kubelet of a pool against those of the shoot (API-VALSHOOT-6, 17).
func poolVersion(w *gardencorev1beta1.Worker, kubernetes string, path *field.Path) field.ErrorList {
	if w.Kubernetes == nil {
		return nil
	}
	here := path.Child("kubernetes")
	own := kubernetes
	if w.Kubernetes.Version != nil {
		own = *w.Kubernetes.Version
	}
	errs := kubelet(w.Kubernetes.Kubelet, own, here.Child("kubelet"))
	if w.Kubernetes.Version == nil {
		return errs
	}
	errs = append(errs, kubernetesVersion(own, here.Child("version"))...)
	nodes, ok := parsed(own)
	plane, isVersion := parsed(kubernetes)
	switch {
	case !ok || !isVersion:
	case plane.LessThan(nodes):
		errs = append(errs, field.Forbidden(here.Child("version"), "must not be above that of the control plane, "+kubernetes))
	case plane.Major() != nodes.Major() || plane.Minor() > nodes.Minor()+maxMinorsBehind:
		message := fmt.Sprintf("must be at most %d minor versions behind that of the control plane, %s", maxMinorsBehind, kubernetes)
		errs = append(errs, field.Forbidden(here.Child("version"), message))
	}
	return errs
}

// poolsUpdate checks the versions of pools that existed before (API-VALSHOOT-6): no pool goes back, and only machines
// that are replaced can skip a minor version.
func poolsUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range s.Provider.Workers {
		w := &s.Provider.Workers[i]
		for j := range old.Provider.Workers {
			was := &old.Provider.Workers[j]
			if was.Name != w.Name || !ownVersion(w) && !ownVersion(was) {
				continue
			}
			here := path.Index(i).Child("kubernetes", "version")
			errs = append(errs, poolVersionUpdate(versionOf(w, s), versionOf(was, old), inPlace(w), here)...)
		}
	}
	return errs
}

func poolVersionUpdate(value, old string, stepwise bool, path *field.Path) field.ErrorList {
	to, ok := parsed(value)
	from, isVersion := parsed(old)
	switch {
	case !ok || !isVersion:
		return nil
	case to.LessThan(from):
		return field.ErrorList{field.Forbidden(path, "a downgrade from "+old+" is not possible")}
	case stepwise && to.Minor() > from.Minor()+1:
		return field.ErrorList{field.Forbidden(path, "machines that are updated in place take one minor version at a time, coming from "+old)}
	default:
		return nil
	}
}

func ownVersion(w *gardencorev1beta1.Worker) bool {
	return w.Kubernetes != nil && w.Kubernetes.Version != nil
}

func versionOf(w *gardencorev1beta1.Worker, s *gardencorev1beta1.ShootSpec) string {
	if ownVersion(w) {
		return *w.Kubernetes.Version
	}
	return s.Kubernetes.Version
}

func inPlace(w *gardencorev1beta1.Worker) bool {
	return w.UpdateStrategy != nil && *w.UpdateStrategy != gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate
}
