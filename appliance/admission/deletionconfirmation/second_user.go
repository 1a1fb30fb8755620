// SPDX-License-Identifier: Apache-2.0

package deletionconfirmation

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// secondUser checks that a shoot for which its project requires two users is deleted by another user than the one who confirmed
// its deletion. A service account of a project does not count as a second user, because members of the project can use it. Nor do the
// controllers of this server: the garbage collector deletes what a member has made dependent on another object (API-DELCONF-3).
func secondUser(ctx context.Context, v world.View, a admission.Attributes, shoot *gardencorev1beta1.Shoot) error {
	who, by := a.GetUserInfo().GetName(), shoot.Annotations[gardencorev1beta1.AnnotationDeletionConfirmedBy]
	if who != by && who != user.APIServerUser && !isAccount(who) && !isAccount(by) {
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
		return fmt.Errorf("project %q requires that the deletion of Shoot %q is confirmed by one user and requested by another; %q has confirmed it",
			project.Name, shoot.Name, who)
	}
	if who == user.APIServerUser {
		return fmt.Errorf("project %q requires that the deletion of Shoot %q is confirmed by one user and requested by another; "+
			"a controller of the garden, such as the garbage collector, is none", project.Name, shoot.Name)
	}
	for _, name := range []string{who, by} {
		shared, err := ofProject(ctx, v, name)
		if err != nil {
			return err
		}
		if shared {
			return fmt.Errorf("project %q requires that the deletion of Shoot %q is confirmed by one user and requested by another; "+
				"%q is a service account, which members of its project can use", project.Name, shoot.Name, name)
		}
	}

	return nil
}

func isAccount(name string) bool {
	_, _, err := serviceaccount.SplitUsername(name)

	return err == nil
}

// ofProject reports whether a user is a service account in the namespace of a project.
func ofProject(ctx context.Context, v world.View, name string) (bool, error) {
	namespace, _, err := serviceaccount.SplitUsername(name)
	if err != nil {
		return false, nil //nolint:nilerr // It is not a service account.
	}
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return false, fmt.Errorf("find project of namespace %q: %w", namespace, err)
	}

	return project != nil, nil
}
