// SPDX-License-Identifier: Apache-2.0

// Package containerruntime gives pools of local shoots the container runtime `local`, which is the runc of the machine under another
// name. It isolates no better than runc itself; it exists to try out pools with additional container runtimes.
//
// Its program comes with the user data, so that a machine has it before its node joins; containerd is configured for it in
// every machine. In the shoot a RuntimeClass schedules pods to the nodes that have it.
package containerruntime

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// setName names the set of objects in the shoot.
const setName = "runtime"

// Actor applies the RuntimeClass in each shoot with a pool that has the runtime. It acts on one object at a time, because all pools
// of a shoot share the class.
type Actor struct{ engine.Access }

// Reconcile applies the class.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.ContainerRuntime, _ *engine.Cluster) error {
	if err := check(object); err != nil {
		return engine.ConfigurationProblem(err)
	}
	return a.ApplyInShoot(ctx, object.Namespace, setName, Class())
}

// Delete removes the class when no other pool has the runtime.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.ContainerRuntime, cluster *engine.Cluster) error {
	all := &gardenextensionsv1alpha1.ContainerRuntimeList{}
	if err := a.Reader.List(ctx, all, client.InNamespace(object.Namespace)); err != nil {
		return fmt.Errorf("list container runtimes: %w", err)
	}
	for i := range all.Items {
		if other := &all.Items[i]; other.Name != object.Name && other.DeletionTimestamp == nil && engine.Mine(other) {
			return nil
		}
	}
	return a.RemoveFromShoot(ctx, object.Namespace, setName, cluster)
}

// Migrate leaves the class in the shoot.
func (a *Actor) Migrate(ctx context.Context, object *gardenextensionsv1alpha1.ContainerRuntime, _ *engine.Cluster) error {
	return a.Forget(ctx, object.Namespace, setName)
}

// check refuses settings that would have no effect.
func check(object *gardenextensionsv1alpha1.ContainerRuntime) error {
	if object.Spec.ProviderConfig != nil {
		return errors.New("the local container runtime has nothing to configure, so it takes no providerConfig")
	}
	if object.Spec.BinaryPath != machine.RuntimesDir {
		return fmt.Errorf("machines look for container runtimes in %q, not in %q", machine.RuntimesDir, object.Spec.BinaryPath)
	}
	return nil
}

// Class runs pods with the runtime, on the nodes that have it.
func Class() *nodev1.RuntimeClass {
	return &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: machine.Runtime},
		Handler:    machine.Runtime,
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{
			fmt.Sprintf(gardencorev1beta1.LabelFormatContainerRuntime, engine.Type): "true",
		}},
	}
}

// program is a runtime that containerd starts instead of runc.
const program = `#!/bin/sh
# The container runtime "local": the runc of this machine under a name of its own.
exec runc "$@"
`

// Files returns the program for the machines of a pool that asks for the runtime.
func Files(shoot *gardencorev1beta1.Shoot, pool string) []gardenextensionsv1alpha1.File {
	asked := slices.ContainsFunc(shoot.Spec.Provider.Workers, func(w gardencorev1beta1.Worker) bool {
		return w.Name == pool && w.CRI != nil &&
			slices.ContainsFunc(w.CRI.ContainerRuntimes, func(r gardencorev1beta1.ContainerRuntime) bool { return r.Type == engine.Type })
	})
	if !asked {
		return nil
	}
	return []gardenextensionsv1alpha1.File{{
		Path: path.Join(machine.RuntimesDir, machine.Runtime), Permissions: new(uint32(0o755)),
		Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: program}},
	}}
}
