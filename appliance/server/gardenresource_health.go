// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
)

const (
	reasonAnswers = "HealthzRequestSucceeded"
	reasonSilent  = "HealthzRequestFailed"
	// mostFindings is how many findings a message names.
	mostFindings = 10
)

// aspect is a condition of the Garden, and the checks of the doctor whose findings it shows.
type aspect struct {
	condition gardencorev1beta1.ConditionType
	// well is the reason if there is no critical finding.
	well   string
	checks []string
	// units are parts of the server whose findings belong here, whatever their check.
	units []string
}

// aspects are all conditions apart from that of the API. Each check of the doctor is in one (OPER-CARE-1).
func aspects() []aspect {
	return []aspect{
		{
			condition: gardenoperatorv1alpha1.ConditionTypeRuntimeComponentsHealthy, well: "RuntimeComponentsRunning",
			checks: []string{"backups", "clock", "directory", "disk", "host", "port", "store"},
		},
		{
			condition: gardenoperatorv1alpha1.ConditionTypeVirtualComponentsHealthy, well: "VirtualComponentsRunning",
			checks: []string{"certificates", "server", "units"},
		},
		{
			condition: gardenoperatorv1alpha1.ConditionTypeObservabilityComponentsHealthy, well: "ObservabilityComponentsRunning",
			units: []string{unitAudit, unitTimeline},
		},
		{
			condition: gardenoperatorv1alpha1.ConditionTypeObjectsHealthy, well: "ObjectsHealthy",
			checks: []string{"requests", "seeds", "shoots", "stuck"},
		},
	}
}

// tellGeneration adds to the condition of certificates and keys which generation of the keys the servers of the garden share. Who does not
// have it is among the findings of the doctor.
func tellGeneration(all []gardencorev1beta1.Condition, generation int64, servers []sharing.Holder) []gardencorev1beta1.Condition {
	if generation == 0 {
		return all
	}
	for i := range all {
		if all[i].Type == gardenoperatorv1alpha1.ConditionTypeVirtualComponentsHealthy {
			all[i].Message = fmt.Sprintf("The keys of the garden have generation %d, for %d servers. ", generation, len(servers)) + all[i].Message
		}
	}

	return all
}

// judge makes conditions of findings. Critical ones make them False; others are only told. The messages name findings by their ids,
// which hold still.
func judge(findings []doctor.Finding) []gardencorev1beta1.Condition {
	var all []gardencorev1beta1.Condition
	for _, a := range aspects() {
		c := gardencorev1beta1.Condition{
			Type: a.condition, Status: gardencorev1beta1.ConditionTrue, Reason: a.well, Message: "The doctor has found nothing.",
		}
		var names []string
		for i := range findings {
			f := &findings[i]
			if !a.has(f) {
				continue
			}
			if f.Severity == doctor.Critical && c.Status == gardencorev1beta1.ConditionTrue {
				c.Status, c.Reason = gardencorev1beta1.ConditionFalse, camel(f.ID)
			}
			names = append(names, nameOf(f))
		}
		if len(names) > 0 {
			c.Message = "The doctor has found " + shorten(names) + ". What to do, it says in: terrarium doctor"
		}
		all = append(all, c)
	}

	return all
}

// has reports whether a finding belongs to an aspect.
func (a aspect) has(f *doctor.Finding) bool {
	if f.Object != nil && f.Object.Kind == "Unit" {
		if slices.Contains([]string{unitAudit, unitTimeline}, f.Object.Name) {
			return slices.Contains(a.units, f.Object.Name)
		}
	}

	return slices.Contains(a.checks, f.Check)
}

func nameOf(f *doctor.Finding) string {
	name := f.ID
	if f.Severity == doctor.Critical {
		name = "critical " + name
	}
	if o := f.Object; o != nil {
		name += fmt.Sprintf(" (%s %s)", o.Kind, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
	}

	return name
}

func shorten(names []string) string {
	if more := len(names) - mostFindings; more > 0 {
		names = append(slices.Clone(names[:mostFindings]), fmt.Sprintf("%d more", more))
	}

	return strings.Join(names, ", ")
}

// camel makes a reason of the id of a finding.
func camel(id string) string {
	var reason strings.Builder
	for word := range strings.SplitSeq(id, "-") {
		if word != "" {
			reason.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}

	return reason.String()
}
