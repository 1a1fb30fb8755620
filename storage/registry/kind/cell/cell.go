// SPDX-License-Identifier: Apache-2.0

// Package cell prints what several kinds show in the cells of their tables (reference: resources.md, table cells).
package cell

import (
	"fmt"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// What is printed where an object says nothing.
const (
	None    = "<none>"
	Pending = "<pending>"
	Unknown = "<unknown>"
)

// Or returns the text that p points to, or fallback when there is none.
func Or[S ~string](p *S, fallback S) string {
	if p == nil || *p == "" {
		return string(fallback)
	}
	return string(*p)
}

// Subject prints the name of a subject.
func Subject(s *rbacv1.Subject) string {
	if s == nil {
		return Unknown
	}
	return s.Name
}

// Condition prints the status of the condition of type t.
func Condition(all []gardencorev1beta1.Condition, t gardencorev1beta1.ConditionType) string {
	for _, c := range all {
		if c.Type == t {
			return string(c.Status)
		}
	}
	return Unknown
}

// LastOperation prints what was or is being done and how far it got.
func LastOperation(op *gardencorev1beta1.LastOperation) string {
	if op == nil {
		return Pending
	}
	return fmt.Sprintf("%s %s (%d%%)", op.Type, op.State, op.Progress)
}

// State prints how what was or is being done is going.
func State(op *gardencorev1beta1.LastOperation) string {
	if op == nil {
		return Pending
	}
	return string(op.State)
}

// Progress prints how far it got, in percent.
func Progress(op *gardencorev1beta1.LastOperation) string {
	if op == nil {
		return "0"
	}
	return strconv.Itoa(int(op.Progress))
}
