// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// ContainerRuntimes are the further container runtimes of a shoot, one for each pool and each runtime of it (EXT-CR-1).
func ContainerRuntimes(shoot *gardencorev1beta1.Shoot, namespace string) []*gardenextensionsv1alpha1.ContainerRuntime {
	var all []*gardenextensionsv1alpha1.ContainerRuntime
	for i := range shoot.Spec.Provider.Workers {
		pool := &shoot.Spec.Provider.Workers[i]
		if pool.CRI == nil {
			continue
		}
		for _, asked := range pool.CRI.ContainerRuntimes {
			r := &gardenextensionsv1alpha1.ContainerRuntime{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: asked.Type + "-" + pool.Name}}
			r.Spec.Type, r.Spec.ProviderConfig = asked.Type, asked.ProviderConfig
			r.Spec.BinaryPath = gardenextensionsv1alpha1.ContainerRuntimeBinaryPath
			r.Spec.WorkerPool.Name = pool.Name
			r.Spec.WorkerPool.Selector.MatchLabels = map[string]string{
				gardencorev1beta1.LabelWorkerPool: pool.Name, gardencorev1beta1.LabelWorkerPoolLegacy: pool.Name,
			}
			all = append(all, r)
		}
	}
	return all
}

// runtimes are the objects by which extensions are asked for container runtimes.
type runtimes struct {
	ground
}

func (r runtimes) fragment(found remains) fragment {
	none := !r.facts.Workers()
	return fragment{
		deploy: []flow.Task{
			{ID: "runtimes", Title: "Deploying the container runtimes", After: after("system-resources"), Skip: none, Do: r.deploy},
			{ID: "runtimes-wait", Title: "Waiting for the container runtimes", After: after("runtimes"), Skip: none, Do: r.wait},
			{
				ID: "runtimes-stale-delete", Title: "Deleting the container runtimes of former worker pools", After: after("worker-wait"),
				Skip: none, Do: r.deleteStale,
			},
		},
		destroy: r.removal(kind.ContainerRuntime, "runtimes", "the container runtimes", !found.namespace, "clean-kubernetes-resources"),
	}
}

func (r runtimes) deploy(ctx context.Context) error {
	for _, want := range ContainerRuntimes(r.facts.Shoot, r.facts.Namespace) {
		obj := &gardenextensionsv1alpha1.ContainerRuntime{ObjectMeta: want.ObjectMeta}
		err := r.extensions().Apply(ctx, obj, extension.Always, func() error {
			obj.Spec = want.Spec
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r runtimes) wait(ctx context.Context) error {
	for _, obj := range ContainerRuntimes(r.facts.Shoot, r.facts.Namespace) {
		if err := r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil {
			return err
		}
	}
	return nil
}

// deleteStale removes the runtimes that no pool asks for any more, after the machines that had them (EXT-AGENT-6).
func (r runtimes) deleteStale(ctx context.Context) error {
	keep := map[string]bool{}
	for _, want := range ContainerRuntimes(r.facts.Shoot, r.facts.Namespace) {
		keep[want.Name] = true
	}
	return r.destroyOthers(ctx, kind.ContainerRuntime, keep)
}
