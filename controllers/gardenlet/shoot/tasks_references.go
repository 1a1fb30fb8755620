// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
)

// referencedSet is the inventory of the copies.
const referencedSet = "referenced-resources"

// references are copies of the objects of the project that spec.resources of the shoot names, for extensions (EXT-CONV-3).
type references struct {
	credentials
}

func (r references) fragment(found remains) fragment {
	task := flow.Task{ID: "referenced-resources", Title: "Deploying the objects that the cluster refers to"}
	deploy, destroy := task, task
	deploy.After, deploy.Do = after("namespace"), r.deployAll
	destroy.Skip, destroy.Do = !found.namespace || len(r.facts.Shoot.Spec.Resources) == 0, r.refresh
	return fragment{deploy: []flow.Task{deploy}, destroy: []flow.Task{destroy}}
}

// deployAll writes the copies, and deletes those that the shoot does not name any more.
func (r references) deployAll(ctx context.Context) error {
	copies, err := r.copier().Resources(ctx, r.facts.Shoot.Namespace, r.facts.Shoot.Spec.Resources)
	if err != nil {
		return err
	}
	return r.engine().ApplySet(ctx, deploy.Set{Namespace: r.facts.Namespace, Name: referencedSet}, copies...)
}

// refresh does so for a deletion. When an object does not exist any more the copies of the last run are kept.
func (r references) refresh(ctx context.Context) error {
	err := r.deployAll(ctx)
	if lost, ok := errors.AsType[*referred.MissingError](err); ok {
		ctrl.LoggerFrom(ctx).Info("An object that the shoot refers to is missing, its deletion continues with the last known one", "reason", lost.Error())
		return nil
	}
	return err
}
