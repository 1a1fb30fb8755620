// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strconv"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// ValidateManagedSeedSet checks a new ManagedSeedSet (API-VALMSS-1).
func ValidateManagedSeedSet(s *gardenseedmanagementv1alpha1.ManagedSeedSet) field.ErrorList {
	errs := check.Metadata(s, true, apivalidation.NameIsDNSSubdomain)
	errs = append(errs, setObject(s)...)
	return append(errs, corevalidation.ValidateShootTemplate(&s.Spec.ShootTemplate, field.NewPath("spec", "shootTemplate"))...)
}

// ValidateManagedSeedSetUpdate checks an updated ManagedSeedSet (API-VALMSS-1).
func ValidateManagedSeedSetUpdate(s, old *gardenseedmanagementv1alpha1.ManagedSeedSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.MetadataUpdate(s, old)
	errs = append(errs, check.Immutable(s.Spec.Selector, old.Spec.Selector, path.Child("selector"))...)
	errs = append(errs, check.Immutable(s.Spec.RevisionHistoryLimit, old.Spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	errs = append(errs, managedSeedUpdate(&s.Spec.Template.Spec, &old.Spec.Template.Spec, path.Child("template", "spec"))...)
	errs = append(errs, setObject(s)...)
	return append(errs, corevalidation.ValidateShootTemplateUpdate(&s.Spec.ShootTemplate, &old.Spec.ShootTemplate, path.Child("shootTemplate"))...)
}

// setObject checks a set, except for its template for shoots.
func setObject(s *gardenseedmanagementv1alpha1.ManagedSeedSet) field.ErrorList {
	path, spec := field.NewPath("spec"), &s.Spec
	var errs field.ErrorList
	if s.Namespace != gardencorev1beta1.NamespaceGarden {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "namespace"), s.Namespace, "must be "+gardencorev1beta1.NamespaceGarden))
	}
	errs = append(errs, check.NotNegative(spec.Replicas, path.Child("replicas"))...)
	errs = append(errs, check.NotNegative(spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	errs = append(errs, setSelector(spec, path)...)
	errs = append(errs, templateMetadata(&spec.Template.ObjectMeta, path.Child("template", "metadata"))...)
	errs = append(errs, managedSeedSpec(&spec.Template.Spec, path.Child("template", "spec"), true)...)
	if query.Workerless(&spec.ShootTemplate.Spec) {
		errs = append(errs, field.Invalid(path.Child("shootTemplate", "spec", "provider", "workers"), "", "a seed needs machines for control planes"))
	}
	if spec.UpdateStrategy != nil {
		errs = append(errs, updateStrategy(spec.UpdateStrategy, path.Child("updateStrategy"))...)
	}
	return errs
}

// setSelector checks that the selector of a set matches the objects created from its templates.
func setSelector(s *gardenseedmanagementv1alpha1.ManagedSeedSetSpec, path *field.Path) field.ErrorList {
	at := path.Child("selector")
	if len(s.Selector.MatchLabels) == 0 && len(s.Selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Invalid(at, "", "must not select everything")}
	}
	if errs := check.Selector(&s.Selector, at); len(errs) > 0 {
		return errs
	}
	selector, err := metav1.LabelSelectorAsSelector(&s.Selector)
	if err != nil {
		return field.ErrorList{field.Invalid(at, s.Selector, err.Error())}
	}
	var errs field.ErrorList
	matches := func(m metav1.ObjectMeta, here *field.Path) {
		if !selector.Matches(labels.Set(m.Labels)) {
			errs = append(errs, field.Invalid(here.Child("metadata", "labels"), m.Labels, "must match the selector of the set"))
		}
	}
	matches(s.Template.ObjectMeta, path.Child("template"))
	matches(s.ShootTemplate.ObjectMeta, path.Child("shootTemplate"))
	c := s.Template.Spec.Gardenlet
	if c == nil || len(c.Config.Raw) == 0 {
		return errs
	}
	here := path.Child("template", "spec", "gardenlet", "config")
	config, wrong := configuration(c.Config, here)
	switch {
	case len(wrong) > 0: // The errors are reported by the validation of the template itself.
	case config.SeedConfig == nil:
		errs = append(errs, field.Required(here.Child("seedConfig"), "must describe the seeds of the set"))
	default:
		matches(config.SeedConfig.ObjectMeta, here.Child("seedConfig"))
	}
	return errs
}

func templateMetadata(m *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(m.Labels, path.Child("labels"))
	return append(errs, apivalidation.ValidateAnnotations(m.Annotations, path.Child("annotations"))...)
}

func updateStrategy(s *gardenseedmanagementv1alpha1.UpdateStrategy, path *field.Path) field.ErrorList {
	switch {
	case s.Type == nil:
		return nil
	case *s.Type == "":
		return check.Required("", path.Child("type"), "a sort of update")
	case *s.Type != gardenseedmanagementv1alpha1.RollingUpdateStrategyType:
		return check.OneOf(*s.Type, path.Child("type"), gardenseedmanagementv1alpha1.RollingUpdateStrategyType)
	case s.RollingUpdate == nil:
		return nil
	default:
		return check.NotNegative(s.RollingUpdate.Partition, path.Child("rollingUpdate", "partition"))
	}
}

// ValidateManagedSeedSetStatusUpdate checks a new status of a ManagedSeedSet (API-VALMSS-1).
func ValidateManagedSeedSetStatusUpdate(s, old *gardenseedmanagementv1alpha1.ManagedSeedSet) field.ErrorList {
	path := field.NewPath("status")
	errs := counts(&s.Status, path)
	errs = append(errs, check.NotShrinking(s.Status.NextReplicaNumber, old.Status.NextReplicaNumber, path.Child("nextReplicaNumber"))...)
	errs = append(errs, check.NotNegative(s.Status.CollisionCount, path.Child("collisionCount"))...)
	if was := old.Status.CollisionCount; was != nil {
		var is int32
		if s.Status.CollisionCount != nil {
			is = *s.Status.CollisionCount
		}
		errs = append(errs, check.NotShrinking(is, *was, path.Child("collisionCount"))...)
	}
	if p := s.Status.PendingReplica; p != nil {
		errs = append(errs, pendingReplica(s.Name, p, path.Child("pendingReplica"))...)
	}
	return errs
}

func counts(s *gardenseedmanagementv1alpha1.ManagedSeedSetStatus, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, count := range []struct {
		name  string
		value int32
		part  bool
	}{
		{name: "replicas", value: s.Replicas},
		{name: "readyReplicas", value: s.ReadyReplicas, part: true},
		{name: "currentReplicas", value: s.CurrentReplicas, part: true},
		{name: "updatedReplicas", value: s.UpdatedReplicas, part: true},
		{name: "nextReplicaNumber", value: s.NextReplicaNumber},
	} {
		errs = append(errs, check.NotNegative(&count.value, path.Child(count.name))...)
		if count.part && count.value > s.Replicas {
			errs = append(errs, field.Invalid(path.Child(count.name), count.value, "must not be above status.replicas"))
		}
	}
	return errs
}

func pendingReplica(set string, p *gardenseedmanagementv1alpha1.PendingReplica, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	ordinal, found := strings.CutPrefix(p.Name, set+"-")
	if number, err := strconv.ParseInt(ordinal, 10, 32); !found || err != nil || number < 0 || strconv.FormatInt(number, 10) != ordinal {
		errs = append(errs, field.Invalid(path.Child("name"), p.Name, "must be "+set+"-<ordinal>"))
	}
	errs = append(errs, check.OneOf(p.Reason, path.Child("reason"),
		gardenseedmanagementv1alpha1.ShootReconcilingReason, gardenseedmanagementv1alpha1.ShootDeletingReason,
		gardenseedmanagementv1alpha1.ShootReconcileFailedReason, gardenseedmanagementv1alpha1.ShootDeleteFailedReason,
		gardenseedmanagementv1alpha1.ManagedSeedPreparingReason, gardenseedmanagementv1alpha1.ManagedSeedDeletingReason,
		gardenseedmanagementv1alpha1.SeedNotReadyReason, gardenseedmanagementv1alpha1.ShootNotHealthyReason)...)
	return append(errs, check.NotNegative(p.Retries, path.Child("retries"))...)
}
