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

func (o *operation) runtimesDeploy(ctx context.Context) error {
	for _, want := range ContainerRuntimes(o.shoot, o.namespace) {
		obj := &gardenextensionsv1alpha1.ContainerRuntime{ObjectMeta: want.ObjectMeta}
		err := o.r.extensions().Apply(ctx, obj, extension.Always, func() error {
			obj.Spec = want.Spec
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *operation) runtimesWait(ctx context.Context) error {
	for _, obj := range ContainerRuntimes(o.shoot, o.namespace) {
		if err := o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil {
			return err
		}
	}
	return nil
}

// runtimesDeleteStale removes the runtimes that no pool asks for any more, after the machines that had them (EXT-AGENT-6).
func (o *operation) runtimesDeleteStale(ctx context.Context) error {
	keep := map[string]bool{}
	for _, want := range ContainerRuntimes(o.shoot, o.namespace) {
		keep[want.Name] = true
	}
	return o.destroyOthers(ctx, kind.ContainerRuntime, keep)
}
