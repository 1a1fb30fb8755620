// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
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
		errs = append(errs, notReservedTaint(t.Key, here.Child("key"))...)
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
	errs := CABundle(w.CABundle, path.Child("caBundle"))
	errs = append(errs, atLeast(w.Priority, minPriority, path.Child("priority"))...)
	if w.UpdateStrategy != nil {
		errs = append(errs, oneOf(*w.UpdateStrategy, path.Child("updateStrategy"), gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate,
			gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate, gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)...)
	}
	if w.CRI != nil {
		errs = append(errs, containerRuntime(*w.CRI, path.Child("cri"))...)
	}
	if w.MachineControllerManager != nil {
		errs = append(errs, machineControllerManager(w, path.Child("machineControllerManager"))...)
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
	return append(errs, duplicates(types, func(i int) *field.Path { return path.Child("containerRuntimes").Index(i).Child("type") })...)
}

// poolVersion checks the version and the kubelet of a pool against those of the shoot (API-VALSHOOT-6, 17). The settings
// that a pool takes from the shoot must be valid for the pool's own version too.
func poolVersion(w *gardencorev1beta1.Worker, k *gardencorev1beta1.Kubernetes, path *field.Path) field.ErrorList {
	if w.Kubernetes == nil {
		return nil
	}
	here, kubernetes, own := path.Child("kubernetes"), k.Version, k.Version
	if w.Kubernetes.Version != nil {
		own = *w.Kubernetes.Version
	}
	settings := w.Kubernetes.Kubelet
	if settings == nil && own != kubernetes {
		settings = k.Kubelet
	}
	errs := kubelet(settings, own, here.Child("kubelet"))
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

// poolsUpdate checks changes of existing pools: versions are not downgraded, only machines that are replaced can skip a
// minor version, and machines that are updated in place keep their properties (API-VALSHOOT-6).
func poolsUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	before := make(map[string]*gardencorev1beta1.Worker, len(old.Provider.Workers))
	for i := range old.Provider.Workers {
		before[old.Provider.Workers[i].Name] = &old.Provider.Workers[i]
	}
	for i := range s.Provider.Workers {
		w, here := &s.Provider.Workers[i], path.Index(i)
		was := before[w.Name]
		if was == nil {
			continue
		}
		errs = append(errs, poolVersionUpdate(versionOf(w, s), versionOf(was, old), inPlace(w), here.Child("kubernetes", "version"))...)
		errs = append(errs, strategyUpdate(w, was, here)...)
	}
	if query.SelfHosted(s) != query.SelfHosted(old) {
		errs = append(errs, field.Forbidden(path, "a shoot cannot become self-hosted or cease to be"))
	} else if controlPlaneOf(s) != controlPlaneOf(old) {
		errs = append(errs, field.Forbidden(path, "the control plane cannot move to another pool"))
	}
	return errs
}

// controlPlaneOf returns the name of the pool that runs the control plane.
func controlPlaneOf(s *gardencorev1beta1.ShootSpec) string {
	for i := range s.Provider.Workers {
		if s.Provider.Workers[i].ControlPlane != nil {
			return s.Provider.Workers[i].Name
		}
	}
	return ""
}

// strategyUpdate checks that a pool keeps whether its machines are replaced or updated in place, and in the latter case the
// properties that cannot change in an existing machine.
func strategyUpdate(w, was *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	if inPlace(w) != inPlace(was) {
		return field.ErrorList{field.Invalid(path.Child("updateStrategy"), deref(w.UpdateStrategy),
			"machines that are replaced cannot become machines that are updated in place, nor the other way round")}
	}
	if !inPlace(w) {
		return nil
	}
	const message = "cannot change while machines are updated in place"
	var errs field.ErrorList
	if w.Machine.Type != was.Machine.Type {
		errs = append(errs, field.Invalid(path.Child("machine", "type"), w.Machine.Type, message))
	}
	if now, before := w.Machine.Image, was.Machine.Image; now != nil && before != nil {
		here := path.Child("machine", "image")
		if now.Name != before.Name {
			errs = append(errs, field.Invalid(here.Child("name"), now.Name, message))
		} else if now.Version != nil && before.Version != nil && query.Higher(*before.Version, *now.Version) {
			errs = append(errs, field.Forbidden(here.Child("version"), "a downgrade from "+*before.Version+" is not possible in place"))
		}
	}
	if w.CRI != nil && was.CRI != nil && w.CRI.Name != was.CRI.Name {
		errs = append(errs, field.Invalid(path.Child("cri", "name"), w.CRI.Name, message))
	}
	if !apiequality.Semantic.DeepEqual(w.Volume, was.Volume) {
		errs = append(errs, field.Invalid(path.Child("volume"), w.Name, message))
	}
	return errs
}

// inPlacePending rejects changes of pools whose machines are being updated in place, unless the change is forced.
func inPlacePending(s, old *gardencorev1beta1.Shoot, path *field.Path) field.ErrorList {
	if slices.Contains(query.Operations(s.Annotations[gardencorev1beta1.AnnotationOperation]), gardencorev1beta1.OperationForceInPlaceUpdate) {
		return nil
	}
	pending := pendingUpdates(s)
	var errs field.ErrorList
	for i := range s.Spec.Provider.Workers {
		w := &s.Spec.Provider.Workers[i]
		if !inPlace(w) || !slices.Contains(pending, w.Name) {
			continue
		}
		was := query.Pool(&old.Spec, w.Name)
		if was == nil {
			continue
		}
		if !apiequality.Semantic.DeepEqual(w, was) || versionOf(w, &s.Spec) != versionOf(was, &old.Spec) ||
			!apiequality.Semantic.DeepEqual(kubeletOf(w, &s.Spec), kubeletOf(was, &old.Spec)) {
			errs = append(errs, field.Forbidden(path.Index(i), "must not change while its machines are being updated in place; annotate the shoot with "+
				gardencorev1beta1.AnnotationOperation+"="+gardencorev1beta1.OperationForceInPlaceUpdate+" to change it all the same"))
		}
	}
	return errs
}

// pendingUpdates returns the names of the pools whose machines are being updated in place.
func pendingUpdates(s *gardencorev1beta1.Shoot) []string {
	if s.Status.InPlaceUpdates == nil || s.Status.InPlaceUpdates.PendingWorkerUpdates == nil {
		return nil
	}
	p := s.Status.InPlaceUpdates.PendingWorkerUpdates
	return slices.Concat(p.AutoInPlaceUpdate, p.ManualInPlaceUpdate)
}

func kubeletOf(w *gardencorev1beta1.Worker, s *gardencorev1beta1.ShootSpec) *gardencorev1beta1.KubeletConfig {
	if w.Kubernetes != nil && w.Kubernetes.Kubelet != nil {
		return w.Kubernetes.Kubelet
	}
	return s.Kubernetes.Kubelet
}

// nodeLocalDNSUpdate rejects enabling or disabling the DNS cache of nodes if machines are updated in place: they would keep
// using an address at which no DNS server answers.
func nodeLocalDNSUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	const firstThatFollows = 34
	if (query.NodeLocalDNS(s) == nil) == (query.NodeLocalDNS(old) == nil) {
		return nil
	}
	proxy := old.Kubernetes.KubeProxy
	ipvs := proxy != nil && proxy.Mode != nil && *proxy.Mode == gardencorev1beta1.ProxyModeIPVS
	for i := range old.Provider.Workers {
		w := &old.Provider.Workers[i]
		if inPlace(w) && (ipvs || minorOf(versionOf(w, old)) < firstThatFollows) {
			return field.ErrorList{field.Forbidden(path, "cannot be switched while machines are updated in place, "+
				"before Kubernetes 1.34 or with kube-proxy in mode IPVS")}
		}
	}
	return nil
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

// machineControllerManager checks the timeouts for machines of a pool, and that settings for in-place updates are set only in
// pools with such updates.
func machineControllerManager(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	m := w.MachineControllerManager
	errs := lasting([]span{
		{"inPlaceUpdateTimeout", m.InPlaceUpdateTimeout},
		{"machineCreationTimeout", m.MachineCreationTimeout},
		{"machineDrainTimeout", m.MachineDrainTimeout},
		{"machineHealthTimeout", m.MachineHealthTimeout},
		{"machinePreserveTimeout", m.MachinePreserveTimeout},
	}, path)
	if !inPlace(w) {
		const message = "has no meaning unless machines are updated in place"
		if m.InPlaceUpdateTimeout != nil {
			errs = append(errs, field.Forbidden(path.Child("inPlaceUpdateTimeout"), message))
		}
		if deref(m.DisableHealthTimeout) {
			errs = append(errs, field.Forbidden(path.Child("disableHealthTimeout"), message))
		}
	}
	errs = append(errs, notNegative(m.MaxEvictRetries, path.Child("maxEvictRetries"))...)
	errs = append(errs, notNegative(m.AutoPreserveFailedMachineMax, path.Child("autoPreserveFailedMachineMax"))...)
	return errs
}
