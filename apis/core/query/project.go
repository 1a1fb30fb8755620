// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const resourceShoots = "shoots"

// NeedsTwo reports whether a project requires two users to delete a shoot with the given labels. If byServiceAccount is set,
// rules that do not apply to service accounts are ignored.
func NeedsTwo(project *gardencorev1beta1.Project, shoot labels.Set, byServiceAccount bool) (bool, error) {
	for _, d := range project.Spec.DualApprovalForDeletion {
		leftOut := byServiceAccount && d.IncludeServiceAccounts != nil && !*d.IncludeServiceAccounts
		if d.Resource != resourceShoots || leftOut {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(&d.Selector)
		if err != nil {
			return false, fmt.Errorf("parse selector of project %q: %w", project.Name, err)
		}
		if selector.Matches(shoot) {
			return true, nil
		}
	}

	return false, nil
}
