// SPDX-License-Identifier: Apache-2.0

// Package shootvalidator validates Shoots against their project, profile and seed, and rejects changes that their state does
// not allow (API-SVAL-1 to 9, 11 to 20, API-BIND-3). Package shootmutator has completed them before.
package shootvalidator

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/admission"

	apicheck "github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/offer"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	binding  = "binding"
	pathSeed = "spec.seedName"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// request is a request with the new shoot and the old one, which is empty on create.
type request struct {
	admission.Attributes

	shoot, old *gardencorev1beta1.Shoot
	create     bool
	// specChanged says that the spec is new or changed.
	specChanged bool
}

// read returns the request, and whether it writes a shoot that is not in deletion.
func read(a admission.Attributes) (request, bool) {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" && a.GetSubresource() != binding {
		return request{}, false
	}
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok {
		old = &gardencorev1beta1.Shoot{}
	}
	create := a.GetOperation() == admission.Create
	return request{
		Attributes: a, shoot: shoot, old: old, create: create,
		specChanged: create || !apicheck.Equal(&shoot.Spec, &old.Spec),
	}, shoot.DeletionTimestamp == nil
}

// choosesSeed reports whether the request sets a seed, either the first or another one.
func (q request) choosesSeed() bool {
	is, was := q.shoot.Spec.SeedName, q.old.Spec.SeedName
	return is != nil && (was == nil || *was != *is)
}

// Validate checks the shoot against its project, its seed, its own state and its profile, in this order (API-SVAL-1).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok && a.GetOperation() == admission.Delete {
		if why := query.Moving(old); why != "" {
			return world.Answer(a, fmt.Errorf("shoot %q cannot be deleted now: %s", old.Name, why))
		}
		return nil
	}
	if a.GetSubresource() == status {
		return r.checkStatus(ctx, a)
	}
	q, ok := read(a)
	if !ok {
		return nil
	}
	if !q.specChanged {
		return r.world.Decide(a, func(v world.View) error {
			if err := checkIssuer(ctx, v, q); err != nil {
				return err
			}
			return checkSeedInDeletion(ctx, v, q)
		})
	}
	if err := r.world.Decide(a, func(v world.View) error { return validate(ctx, v, q) }); err != nil {
		return err
	}
	return world.Answer(a, take(ctx, r.world.Fresh(), q))
}

func validate(ctx context.Context, v world.View, q request) error {
	if err := inOrder(ctx, v, q, checkProject, checkProfileFamily, checkMayBind); err != nil {
		return err
	}
	profile, err := v.ProfileOf(ctx, &q.shoot.Spec, q.shoot.Namespace)
	if err != nil {
		return err
	}
	if profile != nil && q.choosesSeed() {
		if err := checkSeed(ctx, v, q, profile); err != nil {
			return err
		}
	}
	err = inOrder(ctx, v, q, checkNotMoving, checkHibernation, checkSeedInDeletion, checkIssuer, checkSeedSelector,
		checkSeedSuffices, checkControlPlaneZones, checkCredentialsChange, checkPluginSecrets)
	if err != nil || profile == nil {
		return err
	}
	if errs := append(checkNetworks(q), check(q, offer.Offer{Profile: &profile.Spec, Now: v.Clock.Now()})...); len(errs) > 0 {
		return errs.ToAggregate()
	}
	return nil
}

// inOrder runs checks and stops at the first error.
func inOrder(ctx context.Context, v world.View, q request, checks ...func(context.Context, world.View, request) error) error {
	for _, check := range checks {
		if err := check(ctx, v, q); err != nil {
			return err
		}
	}
	return nil
}

// checkProject checks that the project of a new shoot is not in deletion, and that their names together are not too long
// (API-SVAL-2, API-NAME-3).
func checkProject(ctx context.Context, v world.View, q request) error {
	const (
		longestName   = 21
		generatedPart = 5
	)
	if !q.create {
		return nil
	}
	project, err := v.Project(ctx, q.shoot.Namespace)
	if err != nil {
		return err
	}
	if project.DeletionTimestamp != nil {
		return fmt.Errorf("project %q is being deleted", project.Name)
	}
	name, length := q.shoot.Name, len(q.shoot.Name)
	if name == "" {
		name, length = q.shoot.GenerateName, len(q.shoot.GenerateName)+generatedPart
	}
	if len(project.Name)+length > longestName {
		return fmt.Errorf("the names of project %q and shoot %q are too long together: at most %d characters (%d with generateName)",
			project.Name, name, longestName, longestName-generatedPart)
	}
	return nil
}

// checkMayBind checks that a user who creates a shoot on a seed may update shoots/binding, as the scheduler may (API-BIND-3).
func checkMayBind(ctx context.Context, v world.View, q request) error {
	if !q.create || q.shoot.Spec.SeedName == nil {
		return nil
	}
	target := world.Target{
		Group: gardencorev1beta1.GroupName, Resource: "shoots", Subresource: binding,
		Namespace: q.shoot.Namespace, Name: q.shoot.Name,
	}
	allowed, err := v.May(ctx, q.GetUserInfo(), "update", target)
	if err != nil || allowed {
		return err
	}
	return fmt.Errorf("%s: only users who may update shoots/binding can choose the seed; leave it to the scheduler", pathSeed)
}
