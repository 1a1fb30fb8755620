// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/component/machinecontroller"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// machineControl is what turns machine objects into machines, where extensions do not do it themselves. It comes before the workers are
// ordered, and goes when their machines are gone (EXT-WORKER-6, GLET-HIB-4).
type machineControl struct {
	ground

	secrets authorities
	images  map[string]string
	values  values
}

func (m machineControl) fragment(found remains) fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.Machines(), Facts: m.facts, Await: true, Namespace: m.facts.Namespace,
		Engine:  func(context.Context) deploy.Engine { return m.engine() },
		Secrets: m.secrets.Manager, Images: m.images, Addresses: m.values.addresses,
	}
	if !machinecontroller.Wanted(m.facts) {
		// There never was one: neither the provider of a shoot changes, nor whether it has machines.
		return fragment{}
	}
	sleeping := *components
	sleeping.Facts.Power = facts.Asleep
	return fragment{
		deploy: append(
			components.Deploy(assembly.Order{After: after("namespace", "resource-manager-access", machinecontroller.RightsTask)}),
			sleeping.Stop(assembly.Order{After: after("worker-wait"), Skip: m.facts.Power == facts.Awake})...,
		),
		destroy: append(
			components.Restore(assembly.Order{After: after("resource-manager-access"), Skip: !found.cleanable() || !found.worker}),
			components.Delete(assembly.Order{After: after("worker-delete-wait"), Skip: !found.namespace})...,
		),
	}
}

// ready are the tasks after which somebody acts on machine objects, stopped and deleted are those after which nobody does any more.
func (m machineControl) ready() []flow.ID { return m.ends("-wait") }

func (m machineControl) stopped() []flow.ID { return m.ends("-stop-wait") }

func (m machineControl) deleted() []flow.ID { return m.ends("-delete") }

func (m machineControl) ends(suffix flow.ID) []flow.ID {
	if !machinecontroller.Wanted(m.facts) {
		return nil
	}
	return after(flow.ID(machinecontroller.Name) + suffix)
}
