// SPDX-License-Identifier: Apache-2.0

// Package projectlimit limits how many Projects a user creates. Each has roles that all requests are authorized against, a namespace, and a
// quota of its own, so who could create any number of them could fill the store, and make the garden slow for everybody.
package projectlimit

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// verbExceed permits creating projects above the limit. Administrators of the garden have it.
const verbExceed = "exceed-limit"

type rule struct {
	*admission.Handler

	world *world.World
	most  int
}

// New returns a function that makes the plugin with this limit; 0 is none.
func New(most int) func(w *world.World) admission.Interface {
	return func(w *world.World) admission.Interface {
		return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w, most: most}
	}
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit notes for whom a service account of a project creates another project, and which projects were created without a limit. The note never changes: without it the projects of an account
// would count for nobody once its own project is deleted.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	var person string
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Project); ok {
		person = old.Annotations[gardencorev1beta1.AnnotationProjectCreatedFor]
	} else {
		var err error
		if person, err = r.createdFor(ctx, a.GetUserInfo(), p); err != nil {
			return world.Answer(a, err)
		}
	}
	note(p, person)

	return nil
}

// Validate rejects a project of a user who has created as many as are allowed. Projects that other requests were just allowed to create
// count as well: several requests at once would otherwise each find the last free place.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" || a.GetOperation() != admission.Create || r.most == 0 {
		return nil
	}
	if exempt, err := r.exempt(ctx, a.GetUserInfo(), p); err != nil || exempt {
		return world.Answer(a, err)
	}
	who, sort := accountOf(p), "projects of "+accountOf(p).String()
	var others []string
	var first bool
	if !a.IsDryRun() {
		others, first = r.world.Announce(ctx, sort, p.Name)
	}
	err := r.room(ctx, who, others)
	if err != nil && first {
		r.world.Withdraw(ctx, sort, p.Name)
	}

	return world.Answer(a, err)
}

// exempt reports whether somebody may create a project above the limit.
func (r *rule) exempt(ctx context.Context, who user.Info, p *gardencorev1beta1.Project) (bool, error) {
	target := world.Target{Group: gardencorev1beta1.GroupName, Resource: "projects", Name: p.Name}

	return r.world.May(ctx, who, verbExceed, target)
}

// room returns an error if there is no place for another project of an account. Others are those that are about to be created.
func (r *rule) room(ctx context.Context, who account, others []string) error {
	list, err := world.List[gardencorev1beta1.ProjectList](ctx, r.world.Fresh(), world.Place{
		Group: gardencorev1beta1.GroupName, Resource: "projects",
	}, fields.Everything())
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	var there []string
	for i := range list.Items {
		if p := &list.Items[i]; accountOf(p) == who {
			there = append(there, p.Name)
		}
	}
	others = slices.DeleteFunc(others, func(name string) bool { return slices.Contains(there, name) })
	if len(there)+len(others) < r.most {
		return nil
	}

	return fmt.Errorf("%s created %d projects, and at most %d are allowed; delete those that nobody needs, or ask an operator of the garden for the "+
		"permission %q on projects", who, len(there)+len(others), r.most, verbExceed)
}
