// SPDX-License-Identifier: Apache-2.0

package offer

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Serves reports whether a version of an image can take the place of the one that a pool has: it fits the pool, and machines that
// are updated in place can be updated to it.
func (o Offer) Serves(v gardencorev1beta1.MachineImageVersion, pool *gardencorev1beta1.Worker, kubelet string) bool {
	machine := MachineOf(pool)
	return o.Suits(v, machine) && o.Fits(v, pool, kubelet) && (!machine.InPlace || reachable(v, pool))
}

// Fits reports whether a version of an image runs in a pool: on its machines, with its runtimes and its kubelets. How machines
// get to it does not matter, so that a version that machines have already is judged by what it is.
func (o Offer) Fits(v gardencorev1beta1.MachineImageVersion, pool *gardencorev1beta1.Worker, kubelet string) bool {
	machine := MachineOf(pool)
	machine.InPlace = false
	return o.Suits(v, machine) && hasRuntimes(v, pool.CRI) && WorksWith(v, kubelet)
}

// hasRuntimes reports whether an image has the runtimes of a pool. An image that lists none has all of them.
func hasRuntimes(v gardencorev1beta1.MachineImageVersion, wanted *gardencorev1beta1.CRI) bool {
	if wanted == nil || len(v.CRI) == 0 {
		return true
	}
	cri := Find(v.CRI, func(c gardencorev1beta1.CRI) bool { return c.Name == wanted.Name })
	return cri != nil && !slices.ContainsFunc(wanted.ContainerRuntimes, func(w gardencorev1beta1.ContainerRuntime) bool {
		return !slices.ContainsFunc(cri.ContainerRuntimes, func(c gardencorev1beta1.ContainerRuntime) bool { return c.Type == w.Type })
	})
}

// WorksWith reports whether an image works with a version of the kubelet.
func WorksWith(v gardencorev1beta1.MachineImageVersion, kubelet string) bool {
	if v.KubeletVersionConstraint == nil {
		return true
	}
	constraint, err := semver.NewConstraint(*v.KubeletVersionConstraint)
	if err != nil {
		return false
	}
	version, ok := query.Version(kubelet)
	return !ok || constraint.Check(version) // Static validation rejects an invalid version.
}

// reachable reports whether machines of a pool can be updated in place to a version from the one that they have.
func reachable(v gardencorev1beta1.MachineImageVersion, pool *gardencorev1beta1.Worker) bool {
	least := v.InPlaceUpdates.MinVersionForUpdate
	if least == nil {
		return true
	}
	image := pool.Machine.Image
	return image != nil && image.Version != nil && !query.Higher(*least, *image.Version)
}
