// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Mode is what decides about the number of machines, beside the bounds of a deployment.
type Mode struct {
	// Hibernated shoots have no machines.
	Hibernated bool
	// Autoscaled shoots have a pool that may have more machines than its minimum, and so an autoscaler.
	Autoscaled bool
	// Waking shoots have deployments, none of which wants a machine.
	Waking bool
}

// Replicas returns how many machines a deployment gets. Live is what it wants now, nil if it does not exist (EXT-WLIB-1).
func Replicas(live *int32, bounds gardenextensionsv1alpha1.MachineDeployment, mode Mode) int32 {
	switch {
	case mode.Hibernated:
		return 0
	case !mode.Autoscaled, live == nil, mode.Waking:
		return bounds.Minimum
	default:
		return min(max(*live, bounds.Minimum), bounds.Maximum)
	}
}

func (a *Actor) mode(ctx context.Context, object *gardenextensionsv1alpha1.Worker, cluster *engine.Cluster) (Mode, error) {
	deployments, err := a.deployments(ctx, object)
	if err != nil {
		return Mode{}, err
	}
	return Mode{
		Hibernated: cluster.Hibernated(),
		Autoscaled: slices.ContainsFunc(object.Spec.Pools, func(p gardenextensionsv1alpha1.WorkerPool) bool { return p.Maximum > p.Minimum }),
		Waking: len(deployments) > 0 && !slices.ContainsFunc(deployments, func(d gardenmachinev1alpha1.MachineDeployment) bool {
			return d.Spec.Replicas > 0
		}),
	}, nil
}

// count sets how many machines a deployment gets. The number is read just before it is written: one that the autoscaler writes in between
// is lost, and found again by its next pass.
func (a *Actor) count(ctx context.Context, w Wanted, mode Mode) error {
	live := &gardenmachinev1alpha1.MachineDeployment{}
	err := a.Reader.Get(ctx, client.ObjectKeyFromObject(w.Deployment), live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read machine deployment %q: %w", w.Deployment.Name, err)
	}
	var replicas *int32
	if err == nil {
		replicas = &live.Spec.Replicas
	}
	w.Deployment.Spec.Replicas = Replicas(replicas, w.Status, mode)
	return nil
}
