// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

// kubeletsSigned reports whether all kubelets of the shoot ask the cluster for their serving certificates. Those of earlier versions
// signed their own: an API server that verified them would not reach these nodes any more. So the run that finds such nodes replaces
// them, because their configuration changes, and the run after it begins to verify. Once that has begun it does not end.
func (g ground) kubeletsSigned(ctx context.Context) (bool, error) {
	server := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}
	err := g.seed.Get(ctx, key, server)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether the API server verifies kubelets: get deployment %q: %w", key, err)
	}
	verifies := func(arg string) bool { return strings.HasPrefix(arg, apiserver.VerifyKubelets) }
	for i := range server.Spec.Template.Spec.Containers {
		if slices.ContainsFunc(server.Spec.Template.Spec.Containers[i].Args, verifies) {
			return true, nil
		}
	}
	if stopped(server) || !g.facts.Workers() {
		return true, nil // There are no nodes.
	}
	worker := &gardenextensionsv1alpha1.Worker{}
	key.Name = g.facts.Shoot.Name
	err = g.seed.Get(ctx, key, worker)
	if apierrors.IsNotFound(err) {
		return true, nil // There have never been any.
	}
	if err != nil {
		return false, fmt.Errorf("look whether kubelets can be verified: get worker %q: %w", key, err)
	}
	return g.machinesAsk(ctx, worker)
}

// machinesAsk reports whether all machines were made of configurations in which kubelets ask for serving certificates.
func (g ground) machinesAsk(ctx context.Context, worker *gardenextensionsv1alpha1.Worker) (bool, error) {
	if extension.Ready(worker) != nil {
		return false, nil //nolint:nilerr // The error says what the extension still does.
	}
	list := &gardenextensionsv1alpha1.OperatingSystemConfigList{}
	if err := g.seed.List(ctx, list, client.InNamespace(g.facts.Namespace)); err != nil {
		return false, fmt.Errorf("list the configurations of machines: %w", err)
	}
	asking := map[string]bool{}
	for i := range list.Items {
		if key := list.Items[i].Labels[gardencorev1beta1.LabelWorkerNodeAgentSecretName]; osc.AsksForServingCertificate(&list.Items[i]) {
			asking[key] = true
		}
	}
	for i := range worker.Spec.Pools {
		if key := worker.Spec.Pools[i].NodeAgentSecretName; key == nil || !asking[*key] {
			return false, nil
		}
	}
	return true, nil
}
