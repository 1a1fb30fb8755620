// SPDX-License-Identifier: Apache-2.0

// Package customverbauthorizer asks for further rights before certain parts of a Project change: who works in it, and
// which seeds its shoots may go to (API-CVA-1, 2).
package customverbauthorizer

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate refuses changes that need a right which the user has not.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	project, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	old, ok := a.GetOldObject().(*gardencorev1beta1.Project)
	if !ok {
		old = nil
	}
	if whitelistChanges(project, old) {
		if err := r.ask(ctx, a, gardencorev1beta1.VerbModifyTolerationsWhitelist, "spec.tolerations.whitelist"); err != nil {
			return world.Answer(a, err)
		}
	}
	if membersChange(project, old, a.GetUserInfo()) {
		return world.Answer(a, r.ask(ctx, a, gardencorev1beta1.VerbManageMembers, "the human members or the owner"))
	}
	return nil
}

func (r *rule) ask(ctx context.Context, a admission.Attributes, verb, what string) error {
	target := world.Target{Group: gardencorev1beta1.GroupName, Resource: "projects", Name: a.GetName()}
	allowed, err := r.world.May(ctx, a.GetUserInfo(), verb, target)
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf("%s of a project may be changed only by who has the right %q on it; %q has not",
			what, verb, a.GetUserInfo().GetName())
	}
	return nil
}

func whitelistChanges(p, old *gardencorev1beta1.Project) bool {
	return !equality.Semantic.DeepEqual(whitelist(p), whitelist(old))
}

func whitelist(p *gardencorev1beta1.Project) []gardencorev1beta1.Toleration {
	if p == nil || p.Spec.Tolerations == nil {
		return nil
	}
	return p.Spec.Tolerations.Whitelist
}
