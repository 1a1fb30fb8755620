// SPDX-License-Identifier: Apache-2.0

// Package reports judges the conditions that extensions keep on their objects: each contributes to the condition of the same type of
// the shoot or seed that the object is for.
package reports

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// Report is a condition of an extension object.
type Report struct {
	Kind, Type, Namespace, Name string
	Condition                   gardencorev1beta1.Condition
	// Stale says that the extension has been silent for too long.
	Stale bool
}

// Of returns the reports of one object of a kind.
func Of(kind string, object gardenextensionsv1alpha1.Object) []Report {
	conditions := object.GetExtensionStatus().Conditions
	all := make([]Report, 0, len(conditions))
	for _, c := range conditions {
		all = append(all, Report{Kind: kind, Type: object.GetExtensionSpec().Type, Namespace: object.GetNamespace(), Name: object.GetName(), Condition: c})
	}
	return all
}

// Judge returns what an extension reports about the condition, unless it is good. Progress is told in the words of the extension
// (EXT-HEALTH-2), of which as much is taken as anybody reads: the status of a shoot or seed has to stay small enough to be written.
func Judge(c gardencorev1beta1.Condition, all []Report) (gardencorev1beta1.Condition, bool) {
	for _, r := range all {
		if r.Condition.Type != c.Type {
			continue
		}
		if r.Stale {
			c.Status, c.Reason = gardencorev1beta1.ConditionUnknown, r.Kind+"OutdatedHealthCheckReport"
			c.Message = r.name() + " has a report of an extension that sends no heartbeats any more"
			return c, true
		}
		switch r.Condition.Status {
		case gardencorev1beta1.ConditionProgressing:
			c.Status, c.Reason = gardencorev1beta1.ConditionProgressing, operation.Cut(r.Kind+r.Condition.Reason)
			c.Message, c.Codes = operation.Cut(r.Condition.Message), r.codes()
			return c, true
		case gardencorev1beta1.ConditionFalse, gardencorev1beta1.ConditionUnknown:
			c.Status, c.Reason, c.Codes = gardencorev1beta1.ConditionFalse, r.Kind+"UnhealthyReport", r.codes()
			c.Message = strings.TrimSpace(operation.Cut(r.name() + " reports: " + r.Condition.Message))
			return c, true
		default:
		}
	}
	return c, false
}

// codes are those of the extension, each once. There are not many.
func (r Report) codes() []gardencorev1beta1.ErrorCode {
	var codes []gardencorev1beta1.ErrorCode
	for _, code := range r.Condition.Codes {
		if len(codes) < operation.MaxCodes && len(code) <= operation.MaxCode && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// name names the object of the report.
func (r Report) name() string {
	return fmt.Sprintf("%s %q", r.Kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
}
