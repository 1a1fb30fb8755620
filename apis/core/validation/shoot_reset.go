// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ResetUnsupported removes from the spec of a shoot what its versions of Kubernetes do not have, so that a shoot whose version
// is raised without its owner remains valid. It returns the paths of what it removed (GCM-MAINT-13).
func ResetUnsupported(s *gardencorev1beta1.ShootSpec) []string {
	r := reset{version: s.Kubernetes.Version, path: field.NewPath("spec", "kubernetes")}
	r.controlPlane(&s.Kubernetes)
	r.shared(&s.Kubernetes)
	dropIf(&r, lastWithAddons, &s.Addons, field.NewPath("spec", "addons"))
	r.dns(s.DNS)
	for i := range s.Provider.Workers {
		w := &s.Provider.Workers[i]
		if w.Kubernetes == nil || w.Kubernetes.Kubelet == nil {
			continue
		}
		r.version = query.PoolVersion(s, w)
		path := field.NewPath("spec", "provider", "workers").Key(w.Name).Child("kubernetes", "kubelet", "featureGates")
		r.gates(w.Kubernetes.Kubelet.FeatureGates, path)
	}
	return r.removed
}

// reset is what a version of Kubernetes made necessary.
type reset struct {
	version string
	path    *field.Path
	removed []string
}

// dropIf unsets a field that is set although the version is later than the last one with it.
func dropIf[T any](r *reset, lastWith int, value **T, path *field.Path) {
	if *value != nil && beyond(r.version, lastWith) {
		*value = nil
		r.removed = append(r.removed, path.String())
	}
}

// controlPlane resets the API server and the controllers.
func (r *reset) controlPlane(k *gardencorev1beta1.Kubernetes) {
	if a := k.KubeAPIServer; a != nil {
		path := r.path.Child("kubeAPIServer")
		dropIf(r, lastWithAnonymousSwitch, &a.EnableAnonymousAuthentication, path.Child("enableAnonymousAuthentication"))
		if a.WatchCacheSizes != nil {
			dropIf(r, lastWithDefaultCacheSize, &a.WatchCacheSizes.Default, path.Child("watchCacheSizes", "default"))
		}
		r.gates(a.FeatureGates, path.Child("featureGates"))
		r.apis(a.RuntimeConfig, path.Child("runtimeConfig"))
		a.AdmissionPlugins = slices.DeleteFunc(a.AdmissionPlugins, func(p gardencorev1beta1.AdmissionPlugin) bool {
			facts, known := pluginNamed(p.Name)
			lacking := known && facts.lacking(minorOf(r.version)) != ""
			if lacking {
				r.removed = append(r.removed, path.Child("admissionPlugins").Key(p.Name).String())
			}
			return lacking
		})
	}
	if c := k.KubeControllerManager; c != nil {
		path := r.path.Child("kubeControllerManager")
		dropIf(r, lastWithPodEvictionTimeout, &c.PodEvictionTimeout, path.Child("podEvictionTimeout"))
		r.gates(c.FeatureGates, path.Child("featureGates"))
	}
	if s := k.KubeScheduler; s != nil {
		path := r.path.Child("kubeScheduler")
		dropIf(r, lastWithMaxVolumes, &s.KubeMaxPDVols, path.Child("kubeMaxPDVols"))
		r.gates(s.FeatureGates, path.Child("featureGates"))
	}
}

// shared resets what is about nodes.
func (r *reset) shared(k *gardencorev1beta1.Kubernetes) {
	if p := k.KubeProxy; p != nil {
		r.gates(p.FeatureGates, r.path.Child("kubeProxy", "featureGates"))
	}
	if l := k.Kubelet; l != nil {
		r.gates(l.FeatureGates, r.path.Child("kubelet", "featureGates"))
	}
	if c := k.ClusterAutoscaler; c != nil {
		path := r.path.Child("clusterAutoscaler")
		dropIf(r, lastWithEmptyBulkDelete, &c.MaxEmptyBulkDelete, path.Child("maxEmptyBulkDelete"))
		if beyond(r.version, lastWithTaintsToIgnore) && c.IgnoreTaints != nil {
			c.IgnoreTaints = nil
			r.removed = append(r.removed, path.Child("ignoreTaints").String())
		}
	}
}

// gates removes the feature gates that the version does not have, and those that it has locked to another value.
func (r *reset) gates(gates map[string]bool, path *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if len(featureGates(map[string]bool{name: gates[name]}, r.version, path)) > 0 {
			delete(gates, name)
			r.removed = append(r.removed, path.Child(name).String())
		}
	}
}

// apis removes the settings of APIs that the version does not have.
func (r *reset) apis(config map[string]bool, path *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if found, known := fact(apiGroupFacts, name); known && lifetimeOf(found).lacking(minorOf(r.version)) != "" {
			delete(config, name)
			r.removed = append(r.removed, path.Key(name).String())
		}
	}
}

// dns removes the former names of Secrets, which credentialsRef also names.
func (r *reset) dns(d *gardencorev1beta1.DNS) {
	if d == nil {
		return
	}
	for i := range d.Providers {
		if p := &d.Providers[i]; p.CredentialsRef != nil {
			dropIf(r, lastWithDNSSecretName, &p.SecretName, field.NewPath("spec", "dns", "providers").Index(i).Child("secretName"))
		}
	}
}

// ReplacesBinding reports whether a shoot names a SecretBinding that its version of Kubernetes does not support, so that a
// CredentialsBinding has to take its place.
func ReplacesBinding(s *gardencorev1beta1.ShootSpec) bool {
	return withFormerBinding(s) && deref(s.CredentialsBindingName) == ""
}
