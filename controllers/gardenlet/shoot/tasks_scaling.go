// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	// autoscalerStopped is the task after which no autoscaler of a shoot that falls asleep brings machines any more, autoscalerRemoved is it
	// for one whose pools have a fixed size now.
	autoscalerStopped, autoscalerRemoved flow.ID = "cluster-autoscaler-stop-wait", "cluster-autoscaler"
	// autoscalerDeleted is the same for a shoot in deletion.
	autoscalerDeleted flow.ID = "cluster-autoscaler-delete"
)

// quiet is the task after which nothing but the provider decides how many machines there are, if that is to be so.
func quiet(f facts.Shoot) flow.ID {
	if query.Autoscaled(&f.Shoot.Spec) {
		return autoscalerStopped
	}
	return autoscalerRemoved
}

// scaling is what adds and removes machines by itself. It learns from the provider which machines there may be, so it comes after the
// workers were ordered; it is stopped, or deleted, before machines have to go (GLET-HIB-4).
type scaling struct {
	ground

	secrets authorities
	images  map[string]string
	values  values
}

func (s scaling) fragment(found remains) fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.Scaling(), Facts: s.facts, Await: true, Namespace: s.facts.Namespace,
		Engine:  func(context.Context) deploy.Engine { return s.engine() },
		Secrets: s.secrets.Manager, Images: s.images, Addresses: s.values.addresses,
	}
	wanted, awake := query.Autoscaled(&s.facts.Shoot.Spec), s.facts.Power == facts.Awake
	sleeping := *components
	sleeping.Facts.Power = facts.Asleep
	order := assembly.Order{After: after("namespace")}
	if wanted {
		order = assembly.Order{After: after("apiserver-wait", "worker-status-wait", "cluster-autoscaler-rights"), Skip: !awake}
	}
	return fragment{
		deploy: append(
			components.Deploy(order),
			sleeping.Stop(assembly.Order{After: after("namespace"), Skip: awake})...,
		),
		destroy: components.Delete(assembly.Order{Skip: !found.namespace}),
	}
}
