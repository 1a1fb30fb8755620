// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
)

const (
	// requiredPause and requiredPatience say how often and how long the flow looks for extensions that are being installed (GLET-SEED-8).
	requiredPause, requiredPatience = 5 * time.Second, time.Minute

	class = gardenextensionsv1alpha1.ExtensionClassSeed
)

// AddOns are what the extensions of kind Extension are asked to do for a seed as a whole, in its namespace garden (EXT-CLASS-2).
type AddOns struct {
	// Engine deploys to the seed.
	Engine deploy.Engine
	// Seed asks for them, and Registrations are all of the garden.
	Seed          *gardencorev1beta1.Seed
	Registrations []gardencorev1beta1.ControllerRegistration
	// Installations returns those of the seed, as they are now.
	Installations func(ctx context.Context) ([]gardencorev1beta1.ControllerInstallation, error)
	// Copier copies what the seed refers to.
	Copier referred.Copier
}

// deploy asks for them. What an extension needs to clean up stays until it has done so.
func (a AddOns) deploy() []flow.Task {
	none := len(a.wanted()) == 0
	return []flow.Task{
		{
			ID: "referenced-resources", Title: "Deploying the objects that the seed refers to", Timeout: time.Minute, After: []flow.ID{"namespace"},
			Do: a.lend,
		},
		{
			ID: "required-extensions", Title: "Waiting for the installation of extensions", After: []flow.ID{"resource-manager"}, Skip: none,
			Do: a.awaitInstallations,
		},
		{
			ID: "extensions", Title: "Deploying extensions of the seed", Timeout: time.Minute, Skip: none,
			After: []flow.ID{"required-extensions", "referenced-resources", "definitions"}, Do: a.apply,
		},
		{ID: "extensions-wait", Title: "Waiting for extensions of the seed", After: []flow.ID{"extensions"}, Skip: none, Do: a.wait},
		{
			ID: "extensions-stale-delete", Title: "Deleting extensions that the seed does not have any more", Timeout: time.Minute,
			After: []flow.ID{"referenced-resources", "definitions"}, Do: a.deleteStale,
		},
		{
			ID: "extensions-stale-delete-wait", Title: "Waiting until extensions that the seed does not have any more are gone",
			After: []flow.ID{"extensions-stale-delete"}, Do: a.awaitStale,
		},
		{
			ID: "referenced-resources-tidy", Title: "Deleting objects that the seed does not refer to any more", Timeout: time.Minute,
			After: []flow.ID{"extensions-wait", "extensions-stale-delete-wait"}, Do: a.takeBack,
		},
	}
}

// DeleteGraph is the flow that ends what was asked for a seed: the extensions clean up with what they were given, and lose it then.
func (a AddOns) DeleteGraph() (*flow.Graph, error) {
	return flow.Compile("Seed deletion",
		flow.Task{
			ID: "referenced-resources", Title: "Deploying the objects that the seed refers to", Timeout: time.Minute,
			Do: a.refresh,
		},
		flow.Task{
			ID: "extensions-delete", Title: "Deleting extensions of the seed", Timeout: time.Minute, After: []flow.ID{"referenced-resources"},
			Do: a.deleteAll,
		},
		flow.Task{
			ID: "extensions-delete-wait", Title: "Waiting until extensions of the seed are gone", After: []flow.ID{"extensions-delete"},
			Do: func(ctx context.Context) error { return a.waitGone(ctx, nil) },
		},
		flow.Task{
			ID: "referenced-resources-delete", Title: "Deleting the objects that the seed refers to", Timeout: time.Minute,
			After: []flow.ID{"extensions-delete-wait"}, Do: a.takeAllBack,
		},
	)
}

// wanted are the extensions that the seed gets.
func (a AddOns) wanted() []extensions.AddOn {
	return extensions.AddOnsOfSeed(&a.Seed.Spec, a.Registrations)
}

func (a AddOns) kind() extensions.Kind {
	return extensions.KindOf(&gardenextensionsv1alpha1.Extension{})
}

func (a AddOns) engine() extension.Engine {
	return extension.Engine{Client: a.Engine.Client, Clock: a.Engine.Clock}
}

// Patience says how long to wait for the extension of a type.
func (a AddOns) Patience(name string) extensions.Patience {
	patience := a.kind().Patience
	for _, one := range a.wanted() {
		if one.Type == name {
			patience.Timeout = cmp.Or(one.Timeout, patience.Timeout)
		}
	}
	return patience
}

// awaitInstallations waits until what the seed asks for is installed and healthy.
func (a AddOns) awaitInstallations(ctx context.Context) error {
	needs := slices.DeleteFunc(extensions.NeededBySeed(a.Seed, a.Registrations), func(n extensions.Need) bool { return n.Kind != kind.Extension })
	deadline := a.Engine.Clock.Now().Add(requiredPatience)
	return flow.Until(ctx, a.Engine.Clock, flow.Every(requiredPause), func(ctx context.Context) error {
		installations, err := a.Installations(ctx)
		if err != nil {
			return err
		}
		awaited := extensions.Offers(extensions.Awaited(needs, installations, a.Registrations))
		if len(awaited) == 0 {
			return nil
		}
		names := make([]string, 0, len(awaited))
		for _, offer := range awaited {
			names = append(names, offer.String())
		}
		err = fmt.Errorf("extensions are missing or not healthy on seed %q: %s; register a ControllerRegistration for them with "+
			"clusterCompatibility seed, or look at their ControllerInstallation", a.Seed.Name, strings.Join(names, ", "))
		if !a.Engine.Clock.Now().Before(deadline) {
			return flow.Final(err)
		}
		return err
	})
}

func objectOf(name string) *gardenextensionsv1alpha1.Extension {
	obj := &gardenextensionsv1alpha1.Extension{}
	obj.Namespace, obj.Name = gardencorev1beta1.NamespaceGarden, name
	return obj
}

func (a AddOns) apply(ctx context.Context) error {
	for _, one := range a.wanted() {
		obj := objectOf(one.Type)
		err := a.engine().Apply(ctx, obj, extension.Always, func() error {
			if obj.ResourceVersion != "" && !ofSeed(obj) {
				return fmt.Errorf("it is of class %q and not of the seed: delete it", ptr.Deref(obj.Spec.Class, gardenextensionsv1alpha1.ExtensionClassShoot))
			}
			obj.Spec.Type, obj.Spec.Class, obj.Spec.ProviderConfig = one.Type, new(class), one.ProviderConfig
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a AddOns) wait(ctx context.Context) error {
	for _, one := range a.wanted() {
		if err := a.engine().Wait(ctx, objectOf(one.Type), a.Patience(one.Type)); err != nil {
			return err
		}
	}
	return nil
}

func (a AddOns) deleteAll(ctx context.Context) error { return a.deleteOthers(ctx, nil) }

func (a AddOns) deleteStale(ctx context.Context) error { return a.deleteOthers(ctx, a.types()) }

func (a AddOns) awaitStale(ctx context.Context) error { return a.waitGone(ctx, a.types()) }

func (a AddOns) types() []string {
	var types []string
	for _, one := range a.wanted() {
		types = append(types, one.Type)
	}
	return types
}

// deleteOthers deletes the objects for the seed, except those to be kept.
func (a AddOns) deleteOthers(ctx context.Context, keep []string) error {
	found, err := a.others(ctx, keep)
	errs := []error{err}
	for _, obj := range found {
		errs = append(errs, a.engine().Delete(ctx, obj))
	}
	return errors.Join(errs...)
}

func (a AddOns) waitGone(ctx context.Context, keep []string) error {
	found, err := a.others(ctx, keep)
	if err != nil {
		return err
	}
	for _, obj := range found {
		if err := a.engine().WaitGone(ctx, obj, a.Patience(obj.GetName())); err != nil {
			return err
		}
	}
	return nil
}

// others are the objects for the seed that are not to be kept. Those of other classes in the same namespace belong to others.
func (a AddOns) others(ctx context.Context, keep []string) ([]gardenextensionsv1alpha1.Object, error) {
	found, err := Extensions(ctx, a.engine())
	return slices.DeleteFunc(found, func(obj gardenextensionsv1alpha1.Object) bool { return slices.Contains(keep, obj.GetName()) }), err
}

// Extensions lists the objects of kind Extension that a seed has for itself.
func Extensions(ctx context.Context, engine extension.Engine) ([]gardenextensionsv1alpha1.Object, error) {
	found, err := engine.List(ctx, gardencorev1beta1.NamespaceGarden, extensions.KindOf(&gardenextensionsv1alpha1.Extension{}))
	return slices.DeleteFunc(found, func(obj gardenextensionsv1alpha1.Object) bool { return !ofSeed(obj) }), err
}

func ofSeed(obj gardenextensionsv1alpha1.Object) bool {
	return ptr.Deref(obj.GetExtensionSpec().Class, "") == class
}
