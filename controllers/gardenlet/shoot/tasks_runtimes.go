// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// ContainerRuntimes returns the additional container runtimes of a shoot, one for each pool and runtime (EXT-CR-1).
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

// runtimes are the container runtimes of pools.
type runtimes struct {
	ground
}

// fragment deletes the runtimes that no pool asks for any more after the machines that had them (EXT-AGENT-6).
func (r runtimes) fragment(found remains) fragment {
	none := !r.facts.Workers()
	return fragment{
		deploy:  append(r.ask().deploy(none || r.facts.Power != facts.Awake, "resource-manager-access", "system-resources"), r.ask().tidy(none, "worker-wait")),
		destroy: r.ask().destroy(!found.namespaceThere, cleaned, "resource-manager-access"),
	}
}

func (r runtimes) ask() ask[*gardenextensionsv1alpha1.ContainerRuntime] {
	all := ContainerRuntimes(r.facts.Shoot, r.facts.Namespace)
	return ask[*gardenextensionsv1alpha1.ContainerRuntime]{
		ground: r.ground, id: "runtimes", title: "the container runtimes",
		names: func() ([]string, error) {
			var names []string
			for _, want := range all {
				names = append(names, want.Name)
			}
			return names, nil
		},
		fill: func(_ context.Context, obj *gardenextensionsv1alpha1.ContainerRuntime) error {
			for _, want := range all {
				if want.Name == obj.Name {
					obj.Spec = want.Spec
				}
			}
			return nil
		},
	}
}
