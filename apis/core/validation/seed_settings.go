// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// seedSettings checks the settings of a seed. Settings for zones need a seed with several zones (API-VALSEED-3).
func seedSettings(s *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	set := s.Settings
	if set == nil {
		return nil
	}
	var errs field.ErrorList
	if l := set.LoadBalancerServices; l != nil {
		errs = append(errs, seedLoadBalancers(l, s.Provider.Zones, path.Child("loadBalancerServices"))...)
	}
	if t := set.TopologyAwareRouting; t != nil && t.Enabled && len(s.Provider.Zones) < severalZones {
		errs = append(errs, field.Forbidden(path.Child("topologyAwareRouting", "enabled"), "requires a seed with at least two zones"))
	}
	if z := set.ZoneSelection; z != nil {
		errs = append(errs, oneOf(z.Mode, path.Child("zoneSelection", "mode"),
			gardencorev1beta1.ZoneSelectionModePrefer, gardencorev1beta1.ZoneSelectionModeEnforce)...)
	}
	if v := set.VerticalPodAutoscaler; v != nil {
		here := path.Child("verticalPodAutoscaler", "maxAllowed")
		for _, name := range slices.Sorted(maps.Keys(v.MaxAllowed)) {
			errs = append(errs, oneOf(name, here.Child(name), "cpu", "memory")...)
			errs = append(errs, quantities([]amountOf{{name, new(v.MaxAllowed[name])}}, here)...)
		}
		errs = append(errs, vpaFeatureGates(v.FeatureGates, path.Child("verticalPodAutoscaler", "featureGates"))...)
	}
	if r := set.ExcessCapacityReservation; r != nil {
		for i, c := range r.Configs {
			errs = append(errs, reservation(c, path.Child("excessCapacityReservation", "configs").Index(i))...)
		}
	}
	return errs
}

func reservation(c gardencorev1beta1.SeedSettingExcessCapacityReservationConfig, path *field.Path) field.ErrorList {
	here := path.Child("resources")
	var errs field.ErrorList
	if len(c.Resources) == 0 {
		errs = append(errs, field.Required(here, "must give the resources to reserve"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Resources)) {
		errs = append(errs, quantities([]amountOf{{name, new(c.Resources[name])}}, here)...)
	}
	errs = append(errs, labels(c.NodeSelector, path.Child("nodeSelector"))...)
	for i, t := range c.Tolerations {
		errs = append(errs, podToleration(t, path.Child("tolerations").Index(i))...)
	}
	return errs
}

// podToleration checks a toleration as Kubernetes does for pods.
func podToleration(t corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, path.Child("key"))...)
	}
	operator := path.Child("operator")
	if t.Key == "" && t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(operator, t.Operator, "must be Exists when key is empty, which means all keys"))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), t.Effect, "must be NoExecute when tolerationSeconds is set"))
	}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		for _, message := range validation.IsValidLabelValue(t.Value) {
			errs = append(errs, field.Invalid(operator, t.Value, message))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(operator, t.Value, "value must be empty when the operator is Exists"))
		}
	default:
		errs = append(errs, oneOf(t.Operator, operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)...)
	}
	if t.Effect != "" {
		errs = append(errs, oneOf(t.Effect, path.Child("effect"),
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
	}
	return errs
}

// seedLoadBalancers checks the load balancers of a seed, or of its zones.
func seedLoadBalancers(l *gardencorev1beta1.SeedSettingLoadBalancerServices, zones []string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(l.Annotations, path.Child("annotations"))
	errs = append(errs, trafficPolicy(l.ExternalTrafficPolicy, path.Child("externalTrafficPolicy"))...)
	if l.Class != nil {
		for _, message := range validation.IsQualifiedName(*l.Class) {
			errs = append(errs, field.Invalid(path.Child("class"), *l.Class, message))
		}
	}
	here := path.Child("zones")
	if len(l.Zones) > 0 && len(zones) < severalZones {
		errs = append(errs, field.Forbidden(here, "settings for zones require a seed with at least two zones"))
	}
	names := make([]string, 0, len(l.Zones))
	for i, z := range l.Zones {
		if !slices.Contains(zones, z.Name) {
			errs = append(errs, field.NotFound(here.Index(i).Child("name"), z.Name))
		}
		errs = append(errs, apivalidation.ValidateAnnotations(z.Annotations, here.Index(i).Child("annotations"))...)
		errs = append(errs, trafficPolicy(z.ExternalTrafficPolicy, here.Index(i).Child("externalTrafficPolicy"))...)
		names = append(names, z.Name)
	}
	return append(errs, duplicates(names, namesIn(here))...)
}

func trafficPolicy(policy *gardencorev1beta1.ExternalTrafficPolicy, path *field.Path) field.ErrorList {
	return optional(policy, path, gardencorev1beta1.ExternalTrafficPolicyCluster, gardencorev1beta1.ExternalTrafficPolicyLocal)
}
