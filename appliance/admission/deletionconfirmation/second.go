// SPDX-License-Identifier: Apache-2.0

package deletionconfirmation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// second holds what a project says about the deletion of its shoots: who deletes must be another one than who
// confirmed (API-DELCONF-3).
func second(ctx context.Context, v world.View, a admission.Attributes, shoot *gardencorev1beta1.Shoot) error {
	if a.GetUserInfo().GetName() != shoot.Annotations[gardencorev1beta1.AnnotationDeletionConfirmedBy] {
		return nil
	}
	project, err := v.ProjectOf(ctx, shoot.Namespace)
	if err != nil {
		return fmt.Errorf("find project of namespace %q: %w", shoot.Namespace, err)
	}
	if project == nil {
		return nil
	}
	asked, err := asksForSecond(project, shoot, a.GetUserInfo())
	if err != nil || !asked {
		return err
	}
	return fmt.Errorf("project %q asks that the deletion of Shoot %q is confirmed by one and done by another; %q has confirmed it",
		project.Name, shoot.Name, a.GetUserInfo().GetName())
}

func asksForSecond(
	project *gardencorev1beta1.Project, shoot *gardencorev1beta1.Shoot, who user.Info,
) (bool, error) {
	_, _, err := serviceaccount.SplitUsername(who.GetName())
	robot := err == nil
	for _, d := range project.Spec.DualApprovalForDeletion {
		if d.Resource != "shoots" || robot && d.IncludeServiceAccounts != nil && !*d.IncludeServiceAccounts {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(&d.Selector)
		if err != nil {
			return false, fmt.Errorf("read selector of project %q: %w", project.Name, err)
		}
		if selector.Matches(labels.Set(shoot.Labels)) {
			return true, nil
		}
	}
	return false, nil
}
