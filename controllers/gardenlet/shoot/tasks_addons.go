// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"cmp"
	"context"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	beforeAPIServer = gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer
	afterAPIServer  = gardencorev1beta1.ControllerResourceLifecycleStrategyAfterKubeAPIServer
	afterWorker     = gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker
)

// addOns are the extensions for which there is no kind of their own: one object of kind Extension for each type (EXT-EXT-1).
type addOns struct {
	ground

	all []extensions.AddOn
}

// fragment has the objects at the points of an operation that their registrations choose. For a shoot that falls asleep the order is
// turned around: those that act before the API server starts act again after it has stopped (EXT-EXT-3).
func (a addOns) fragment(found remains) fragment {
	first, then, last := a.types(reconciledAt(beforeAPIServer)), a.types(reconciledAt(afterAPIServer)), a.types(reconciledAt(afterWorker))
	sleeps, gone := a.facts.Power != facts.Awake, !found.namespaceThere
	stale := a.ask("ext-stale", "extensions that the cluster does not have any more", a.types(nil)).
		destroy(false, "namespace", "gardener-access", "resource-manager-access")
	// Nothing is waited for while a cluster sleeps: an extension may need it to clean up.
	stale[1].Skip = sleeps
	return fragment{
		deploy: slices.Concat(
			a.ask("ext-before-api", "extensions that come before the API server", first).
				deploy(sleeps || len(first) == 0, "cloudprovider-secret", "referenced-resources", "infrastructure-wait"),
			a.ask("ext-after-api", "extensions that come after the API server", then).
				deploy(len(then) == 0, "referenced-resources", "gardener-access", "resource-manager-access"),
			a.ask("ext-after-worker", "extensions that come after the workers", last).
				deploy(len(last) == 0, "referenced-resources", "resource-manager-access", "worker-status-wait"),
			stale,
			a.ask("ext-before-api-stop", "extensions that stop after the API server", first).
				deploy(!sleeps || len(first) == 0, "referenced-resources", "etcd-main-stop-wait", "etcd-events-stop-wait"),
		),
		destroy: slices.Concat(
			a.ask("ext-before-api", "extensions that go before the API server", a.types(deletedAfterServer)).
				destroy(gone, cleaned, "resource-manager-access", "referenced-resources", "osc-delete-wait"),
			a.ask("ext-after-api", "extensions that go after the API server", nil).destroy(gone, "apiserver-delete"),
		),
	}
}

func reconciledAt(point gardencorev1beta1.ControllerResourceLifecycleStrategy) func(extensions.AddOn) bool {
	return func(one extensions.AddOn) bool { return one.Reconcile == point }
}

func deletedAfterServer(one extensions.AddOn) bool {
	return one.Delete == afterAPIServer
}

// types are those of the extensions for which about is true; nil is about all.
func (a addOns) types(about func(extensions.AddOn) bool) []string {
	var types []string
	for _, one := range a.all {
		if about == nil || about(one) {
			types = append(types, one.Type)
		}
	}
	return types
}

// beforeServer, afterServer and afterWorkers are the tasks that others wait for. There are none without such extensions, so that
// nobody waits for what comes before them.
func (a addOns) beforeServer() []flow.ID { return a.waits(beforeAPIServer, "ext-before-api-wait") }

func (a addOns) afterServer() []flow.ID { return a.waits(afterAPIServer, "ext-after-api-wait") }

func (a addOns) afterWorkers() []flow.ID { return a.waits(afterWorker, "ext-after-worker-wait") }

func (a addOns) waits(point gardencorev1beta1.ControllerResourceLifecycleStrategy, id flow.ID) []flow.ID {
	if len(a.types(reconciledAt(point))) == 0 {
		return nil
	}
	return []flow.ID{id}
}

// ask asks for the objects of some types. A deletion spares these and takes all others.
func (a addOns) ask(id flow.ID, title string, types []string) ask[*gardenextensionsv1alpha1.Extension] {
	asked := ask[*gardenextensionsv1alpha1.Extension]{
		ground: a.ground, id: id, title: title, spared: types,
		names: func() ([]string, error) { return types, nil },
		fill: func(_ context.Context, obj *gardenextensionsv1alpha1.Extension) error {
			obj.Spec.Type, obj.Spec.ProviderConfig = obj.Name, a.named(obj.Name).ProviderConfig
			obj.Spec.Class = cmp.Or(obj.Spec.Class, new(gardenextensionsv1alpha1.ExtensionClassShoot))
			return nil
		},
	}
	asked.patience = func(name string) extensions.Patience {
		patience := asked.kind().Patience
		patience.Timeout = cmp.Or(a.named(name).Timeout, patience.Timeout)
		return patience
	}
	return asked
}

func (a addOns) named(name string) extensions.AddOn {
	for _, one := range a.all {
		if one.Type == name {
			return one
		}
	}
	return extensions.AddOn{Type: name}
}
