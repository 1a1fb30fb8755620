// SPDX-License-Identifier: Apache-2.0

package deletionconfirmation

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// second holds what a project says about the deletion of its shoots: who deletes must be another one than who
// confirmed (API-DELCONF-3). A service account of a project is no second person: members of the project can use it.
func second(ctx context.Context, v world.View, a admission.Attributes, shoot *gardencorev1beta1.Shoot) error {
	who, by := a.GetUserInfo().GetName(), shoot.Annotations[gardencorev1beta1.AnnotationDeletionConfirmedBy]
	if who != by && !isAccount(who) && !isAccount(by) {
		return nil
	}
	project, err := v.ProjectOf(ctx, shoot.Namespace)
	if err != nil {
		return fmt.Errorf("find project of namespace %q: %w", shoot.Namespace, err)
	}
	if project == nil {
		return nil
	}
	asked, err := query.NeedsTwo(project, shoot.Labels, isAccount(who))
	if err != nil || !asked {
		return err
	}
	if who == by {
		return fmt.Errorf("project %q asks that the deletion of Shoot %q is confirmed by one and done by another; %q has confirmed it",
			project.Name, shoot.Name, who)
	}
	for _, name := range []string{who, by} {
		shared, err := ofProject(ctx, v, name)
		if err != nil {
			return err
		}
		if shared {
			return fmt.Errorf("project %q asks that the deletion of Shoot %q is confirmed by one person and done by another; "+
				"%q is a service account, which members of its project can use", project.Name, shoot.Name, name)
		}
	}

	return nil
}

func isAccount(user string) bool {
	_, _, err := serviceaccount.SplitUsername(user)

	return err == nil
}

// ofProject reports whether a user is a service account in the namespace of a project.
func ofProject(ctx context.Context, v world.View, user string) (bool, error) {
	namespace, _, err := serviceaccount.SplitUsername(user)
	if err != nil {
		return false, nil //nolint:nilerr // it is no service account
	}
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return false, fmt.Errorf("find project of namespace %q: %w", namespace, err)
	}

	return project != nil, nil
}
