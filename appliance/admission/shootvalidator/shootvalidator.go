// SPDX-License-Identifier: Apache-2.0

// Package shootvalidator completes Shoots from what their CloudProfile and Seed say, and refuses those that ask for
// what is not offered (API-SVAL-2 to 4, 8, 12 to 17).
package shootvalidator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const binding = "binding"

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var (
	_ admission.ValidationInterface = &rule{}
	_ admission.MutationInterface   = &rule{}
)

// request is what is asked: the shoot as it should become, and as it was (empty on create).
type request struct {
	shoot, old *gardencorev1beta1.Shoot
	create     bool
}

// read tells whether a request is about the spec of a shoot that lives.
func read(a admission.Attributes) (request, bool) {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" && a.GetSubresource() != binding {
		return request{}, false
	}
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok {
		old = &gardencorev1beta1.Shoot{}
	}
	unchanged := a.GetOperation() == admission.Update && equality.Semantic.DeepEqual(shoot.Spec, old.Spec)
	return request{shoot: shoot, old: old, create: a.GetOperation() == admission.Create},
		shoot.DeletionTimestamp == nil && !unchanged
}

// Admit fills in versions, images and networks that the shoot leaves open.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	q, ok := read(a)
	if !ok {
		return nil
	}
	referProfile(&q.shoot.Spec)
	if err := r.completeNetworks(ctx, q.shoot); err != nil {
		return admission.NewForbidden(a, err)
	}
	if q.shoot.Spec.CloudProfile == nil {
		return nil // Validation asks for it.
	}
	profile, err := r.world.CloudProfile(ctx, q.shoot.Spec.CloudProfile.Name)
	if err != nil {
		return nil //nolint:nilerr // the missing profile is reported, with its field, by the check of references
	}
	complete(&q.shoot.Spec, offer{profile: &profile.Spec, now: r.world.Clock.Now()})
	return nil
}

// Validate holds the shoot against its project, its profile and its seed.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	q, ok := read(a)
	if !ok {
		return nil
	}
	if err := r.membership(ctx, q); err != nil {
		return admission.NewForbidden(a, err)
	}
	if err := r.scheduling(ctx, q); err != nil {
		return admission.NewForbidden(a, err)
	}
	if q.shoot.Spec.CloudProfile == nil {
		return nil
	}
	profile, err := r.world.CloudProfile(ctx, q.shoot.Spec.CloudProfile.Name)
	if err != nil {
		return admission.NewForbidden(a, fmt.Errorf("read CloudProfile %q: %w", q.shoot.Spec.CloudProfile.Name, err))
	}
	if errs := check(q, offer{profile: &profile.Spec, now: r.world.Clock.Now()}); len(errs) > 0 {
		return admission.NewForbidden(a, errs.ToAggregate())
	}
	return nil
}

// membership holds API-SVAL-2 and the length of names (API-NAME-3).
func (r *rule) membership(ctx context.Context, q request) error {
	const (
		longestName      = 21
		longestGenerated = 16
	)
	if !q.create {
		return nil
	}
	project, err := r.world.ProjectOf(ctx, q.shoot.Namespace)
	if err != nil {
		return fmt.Errorf("find project of namespace %q: %w", q.shoot.Namespace, err)
	}
	if project == nil {
		return fmt.Errorf("namespace %q belongs to no project; shoots live in the namespace of a project", q.shoot.Namespace)
	}
	if project.DeletionTimestamp != nil {
		return fmt.Errorf("project %q is being deleted", project.Name)
	}
	generated := q.shoot.GenerateName != "" && len(project.Name)+len(q.shoot.GenerateName) > longestGenerated
	if generated || len(project.Name)+len(q.shoot.Name) > longestName {
		return fmt.Errorf("the names of project %q and shoot %q are too long together: at most %d characters (%d with generateName)",
			project.Name, q.shoot.Name+q.shoot.GenerateName, longestName, longestGenerated)
	}
	return nil
}

// completeNetworks takes the seed's defaults for networks that the shoot leaves open (API-SVAL-12).
func (r *rule) completeNetworks(ctx context.Context, s *gardencorev1beta1.Shoot) error {
	n := s.Spec.Networking
	if s.Spec.SeedName == nil || n == nil || n.Pods != nil && n.Services != nil {
		return nil
	}
	seed, err := r.world.Seed(ctx, *s.Spec.SeedName)
	if err != nil {
		return nil //nolint:nilerr // the missing seed is reported, with its field, by the check of references
	}
	defaults := seed.Spec.Networks.ShootDefaults
	if defaults == nil {
		defaults = &gardencorev1beta1.ShootNetworks{}
	}
	hasWorkers := len(s.Spec.Provider.Workers) > 0
	var errs field.ErrorList
	if n.Pods == nil && hasWorkers {
		n.Pods = defaults.Pods
		if n.Pods == nil {
			errs = append(errs, openNetwork("pods", *s.Spec.SeedName))
		}
	}
	if n.Services == nil {
		n.Services = defaults.Services
		if n.Services == nil {
			errs = append(errs, openNetwork("services", *s.Spec.SeedName))
		}
	}
	return errs.ToAggregate()
}

func openNetwork(name, seed string) *field.Error {
	path := field.NewPath("spec", "networking", name)
	return field.Required(path, fmt.Sprintf("seed %q has no default for it", seed))
}
