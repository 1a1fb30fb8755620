// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// requiredPatience is how long a run waits for extensions, as long as the same ones are missing, and requiredPoll how often it looks for them.
	requiredPatience = time.Minute
	requiredPoll     = 5 * time.Second
	taskRequired     = "required-extensions"
)

// Needs returns the extensions that a shoot waits for, sorted: those that it needs and for which the gardenlet makes an object. The
// registrations are all of the garden.
func Needs(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, registrations []gardencorev1beta1.ControllerRegistration) []extensions.Offer {
	needs := extensions.NeededByShoot(shoot, extensions.Surroundings{Seed: seed, Registrations: registrations})
	return slices.DeleteFunc(extensions.Offers(needs), func(o extensions.Offer) bool {
		kind, _ := extensions.Named(o.Kind)
		return !kind.OfShoots
	})
}

// Missing returns the needs that no installed and healthy extension serves. The keys of the registrations are their names.
func Missing(
	needs []extensions.Offer, installations []gardencorev1beta1.ControllerInstallation, registrations map[string]*gardencorev1beta1.ControllerRegistration,
) []extensions.Offer {
	served := map[extensions.Offer]bool{}
	for i := range installations {
		if !extensions.Installed(&installations[i]) {
			continue
		}
		registration := registrations[installations[i].Spec.RegistrationRef.Name]
		if registration == nil {
			continue
		}
		for _, resource := range registration.Spec.Resources {
			served[extensions.OfferOf(resource)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(needs), func(n extensions.Offer) bool { return served[n] })
}

// requireExtensions checks that the extensions which the shoot needs are installed. They may be installed only now, so the run waits
// for them before it fails.
func (o *operation) requireExtensions(ctx context.Context) error {
	missing, err := o.missing(ctx, Needs(o.facts.Shoot, o.facts.Seed, o.registrations))
	if err != nil || len(missing) == 0 {
		return err
	}
	names := make([]string, 0, len(missing))
	for _, n := range missing {
		names = append(names, n.String())
	}
	list := strings.Join(names, ", ")
	reason := fmt.Sprintf("Waiting for extensions on seed %q: %s", o.facts.Seed.Name, list)
	if left := requiredPatience - o.status.Waited(reason); left > 0 {
		return kit.Wait(min(left, requiredPoll), reason)
	}
	return lastoperation.AtStep(taskRequired, fmt.Errorf(
		"extensions are missing or not healthy on seed %q: %s; register a ControllerRegistration for them or look at their ControllerInstallation",
		o.facts.Seed.Name, list))
}

func (o *operation) missing(ctx context.Context, needs []extensions.Offer) ([]extensions.Offer, error) {
	installations := &gardencorev1beta1.ControllerInstallationList{}
	err := o.r.GardenReader.List(ctx, installations, client.MatchingFields{gardencorev1beta1.FieldSeedRefName: o.r.SeedName})
	if err != nil {
		return nil, fmt.Errorf("list controller installations of seed %q: %w", o.r.SeedName, err)
	}
	registrations := map[string]*gardencorev1beta1.ControllerRegistration{}
	for i := range o.registrations {
		registrations[o.registrations[i].Name] = &o.registrations[i]
	}
	return Missing(needs, installations.Items, registrations), nil
}
