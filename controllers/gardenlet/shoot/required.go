// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	requiredInterval = time.Second
	requiredTimeout  = time.Minute
	taskRequired     = "required-extensions"
)

// Need is a kind and a type of extension.
type Need struct {
	Kind, Type string
}

func (n Need) String() string { return n.Kind + "/" + n.Type }

// Needs lists the extensions that a shoot cannot be made without, sorted.
func Needs(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) []Need {
	var needs []Need
	if seed.Spec.DNS.Internal != nil {
		needs = append(needs, Need{Kind: "DNSRecord", Type: seed.Spec.DNS.Internal.Type})
	}
	if p := PrimaryProvider(shoot); p != nil {
		needs = append(needs, Need{Kind: "DNSRecord", Type: *p.Type})
	}
	if !workerless(shoot) {
		for _, kind := range []string{"Infrastructure", "ControlPlane", "Worker"} {
			needs = append(needs, Need{Kind: kind, Type: shoot.Spec.Provider.Type})
		}
		if n := shoot.Spec.Networking; n != nil && n.Type != nil {
			needs = append(needs, Need{Kind: "Network", Type: *n.Type})
		}
	}
	for _, pool := range shoot.Spec.Provider.Workers {
		if pool.Machine.Image != nil {
			needs = append(needs, Need{Kind: "OperatingSystemConfig", Type: pool.Machine.Image.Name})
		}
	}
	slices.SortFunc(needs, func(a, b Need) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Type, b.Type)) })
	return slices.Compact(needs)
}

// Missing lists the needs that no installed and healthy extension serves. The registrations are found by name.
func Missing(needs []Need, installations []gardencorev1beta1.ControllerInstallation, registrations map[string]*gardencorev1beta1.ControllerRegistration) []Need {
	served := map[Need]bool{}
	for i := range installations {
		if !installed(&installations[i]) {
			continue
		}
		registration := registrations[installations[i].Spec.RegistrationRef.Name]
		if registration == nil {
			continue
		}
		for _, resource := range registration.Spec.Resources {
			served[Need{Kind: resource.Kind, Type: resource.Type}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(needs), func(n Need) bool { return served[n] })
}

func installed(i *gardencorev1beta1.ControllerInstallation) bool {
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTypeHealthy,
	} {
		if !kit.ConditionIs(i.Status.Conditions, kind, gardencorev1beta1.ConditionTrue) {
			return false
		}
	}
	return i.DeletionTimestamp == nil
}

// awaitRequired waits a minute for the extensions that the shoot needs: they are installed when the first shoot needs them.
func (o *operation) awaitRequired(ctx context.Context) error {
	needs := Needs(o.shoot, o.seed)
	deadline := o.r.Clock.Now().Add(requiredTimeout)
	for {
		missing, err := o.missing(ctx, needs)
		if err != nil || len(missing) == 0 {
			return err
		}
		if !o.r.Clock.Now().Before(deadline) {
			names := make([]string, 0, len(missing))
			for _, n := range missing {
				names = append(names, n.String())
			}
			return &initializeError{task: taskRequired, err: fmt.Errorf(
				"extensions are missing or not healthy on seed %q: %s; register a ControllerRegistration for them or look at their ControllerInstallation",
				o.seed.Name, strings.Join(names, ", "))}
		}
		timer := o.r.Clock.NewTimer(requiredInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("wait for required extensions: %w", context.Cause(ctx))
		}
	}
}

func (o *operation) missing(ctx context.Context, needs []Need) ([]Need, error) {
	installations := &gardencorev1beta1.ControllerInstallationList{}
	err := o.r.GardenReader.List(ctx, installations, client.MatchingFields{gardencorev1beta1.FieldSeedRefName: o.r.SeedName})
	if err != nil {
		return nil, fmt.Errorf("list controller installations of seed %q: %w", o.r.SeedName, err)
	}
	registrations := map[string]*gardencorev1beta1.ControllerRegistration{}
	for i := range installations.Items {
		name := installations.Items[i].Spec.RegistrationRef.Name
		registration := &gardencorev1beta1.ControllerRegistration{}
		if err := o.r.GardenReader.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return nil, fmt.Errorf("get controller registration %q: %w", name, err)
		}
		registrations[name] = registration
	}
	return Missing(needs, installations.Items, registrations), nil
}
