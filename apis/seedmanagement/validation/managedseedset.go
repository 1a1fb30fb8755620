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
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// ValidateManagedSeedSet checks a new ManagedSeedSet (API-VALMSS-1).
func ValidateManagedSeedSet(s *gardenseedmanagementv1alpha1.ManagedSeedSet) field.ErrorList {
	errs := check.Metadata(s, true, apivalidation.NameIsDNSLabel)
	errs = append(errs, inGarden(s.Namespace)...)
	return append(errs, setSpec(&s.Spec)...)
}

// ValidateManagedSeedSetUpdate checks an updated ManagedSeedSet (API-VALMSS-1).
func ValidateManagedSeedSetUpdate(s, old *gardenseedmanagementv1alpha1.ManagedSeedSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.MetadataUpdate(s, old)
	errs = append(errs, check.Frozen(s, s.Spec, old.Spec)...)
	errs = append(errs, check.Immutable(s.Spec.Selector, old.Spec.Selector, path.Child("selector"))...)
	errs = append(errs, managedSeedUpdate(&s.Spec.Template.Spec, &old.Spec.Template.Spec, path.Child("template", "spec"))...)
	return append(errs, setSpec(&s.Spec)...)
}

func setSpec(s *gardenseedmanagementv1alpha1.ManagedSeedSetSpec) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.NotNegative(s.Replicas, path.Child("replicas"))
	errs = append(errs, check.NotNegative(s.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	errs = append(errs, setSelector(s, path)...)
	errs = append(errs, templateMetadata(&s.Template.ObjectMeta, path.Child("template", "metadata"))...)
	errs = append(errs, managedSeedSpec(&s.Template.Spec, path.Child("template", "spec"), true)...)
	errs = append(errs, templateMetadata(&s.ShootTemplate.ObjectMeta, path.Child("shootTemplate", "metadata"))...)
	if s.UpdateStrategy != nil {
		errs = append(errs, updateStrategy(s.UpdateStrategy, path.Child("updateStrategy"))...)
	}
	return errs
}

// setSelector checks that the selector of a set finds what is made from its templates.
func setSelector(s *gardenseedmanagementv1alpha1.ManagedSeedSetSpec, path *field.Path) field.ErrorList {
	at := path.Child("selector")
	if errs := check.Selector(&s.Selector, at); len(errs) > 0 {
		return errs
	}
	selector, err := metav1.LabelSelectorAsSelector(&s.Selector)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, s.Selector, err.Error())}
	case selector.Empty():
		return field.ErrorList{field.Required(at, "must not select everything")}
	}
	var errs field.ErrorList
	for _, template := range []struct {
		name string
		meta metav1.ObjectMeta
	}{{name: "template", meta: s.Template.ObjectMeta}, {name: "shootTemplate", meta: s.ShootTemplate.ObjectMeta}} {
		if !selector.Matches(labels.Set(template.meta.Labels)) {
			errs = append(errs, field.Invalid(path.Child(template.name, "metadata", "labels"), template.meta.Labels,
				"must match the selector of the set"))
		}
	}
	return errs
}

func templateMetadata(m *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(m.Labels, path.Child("labels"))
	return append(errs, apivalidation.ValidateAnnotations(m.Annotations, path.Child("annotations"))...)
}

func updateStrategy(s *gardenseedmanagementv1alpha1.UpdateStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Type != nil {
		errs = append(errs, check.OneOf(*s.Type, path.Child("type"), gardenseedmanagementv1alpha1.RollingUpdateStrategyType)...)
	}
	if s.RollingUpdate != nil {
		errs = append(errs, check.NotNegative(s.RollingUpdate.Partition, path.Child("rollingUpdate", "partition"))...)
	}
	return errs
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
