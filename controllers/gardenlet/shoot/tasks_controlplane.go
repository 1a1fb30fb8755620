// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"slices"
	"strings"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

type (
	// addresses are those of components, address is that of the API server.
	addresses = assembly.Addresses
	address   = *flow.Value[component.Address]
)

// plane is the control plane in the seed, and the access to it for clients in the seed.
type plane struct {
	ground

	secrets authorities
	images  map[string]string
	shoots  *kit.Shoots
	addOns  addOns
	values  values
}

func (p plane) fragment(found remains) fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.ControlPlane(), Facts: p.facts, Await: true, Namespace: p.facts.Namespace,
		Engine:  func(context.Context) deploy.Engine { return p.engine() },
		Secrets: p.secrets.Manager, Images: p.images, Addresses: p.values.addresses,
	}
	// The stores are deleted last, when no component can need them any more.
	stores := after("infrastructure-delete-wait", "dns-delete", "ext-after-api-delete-wait")
	sleeping := *components
	sleeping.Facts.Power = facts.Asleep
	return fragment{
		deploy: slices.Concat(
			components.Deploy(assembly.Order{After: after("namespace"), Besides: map[component.Name][]flow.ID{apiserver.Name: append(p.addOns.beforeServer(), p.rotating().beforeEncryption()...)}}),
			p.switchEncryption(*components), p.endEncryption(*components),
			p.connect(false), []flow.Task{p.dropFormerAccess()},
			sleeping.Stop(assembly.Order{After: after("hibernate"), Besides: map[component.Name][]flow.ID{apiserver.Name: after(leadershipReleased)}, Skip: p.facts.Power == facts.Awake}),
		),
		destroy: slices.Concat(
			reaching(components.Restore(assembly.Order{Skip: !found.cleanable()})), reaching(p.connect(!found.cleanable(), webhooksCleaned)),
			components.Delete(assembly.Order{
				After: after("controlplane-delete-wait", "shoot-resources-delete"), Besides: map[component.Name][]flow.ID{etcd.Main: stores, etcd.Events: stores}, Skip: !found.namespace,
			}),
		),
	}
}

// reaching marks the tasks of a deletion that wait until the shoot can be entered, and that enter it: a store or an API server may never
// come back. What fails before, such as a write in the seed, fails for a reason that passes.
func reaching(tasks []flow.Task) []flow.Task {
	for i := range tasks {
		if t := &tasks[i]; strings.HasSuffix(string(t.ID), assembly.WaitSuffix) || t.ID == shootReached || t.ID == shootServed {
			t.Do = uncleanable(t.Do)
		}
	}
	return tasks
}

func (p plane) address() address {
	return p.values.addresses.Of(apiserver.Exposure)
}
