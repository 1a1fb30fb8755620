// SPDX-License-Identifier: Apache-2.0

package controllermanager

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// name is also that of its image and of its certificate.
const name = gardencorev1beta1.DeploymentKubeControllerManager

// Component is the controller manager.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the controller manager", Task: "kcm", Images: []string{name}, Replicas: component.One[facts.Shoot],
		After: []component.Name{apiserver.Name},
		Care:  component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return append(apiserver.ClientRequests(name, User),
				component.Authority(gardencorev1beta1.SecretCAClient), component.RSAKey(gardencorev1beta1.SecretServiceAccountKey)), nil
		},
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			return Render(Values{
				Namespace: f.Namespace, Image: in.Image(name), Replicas: in.Replicas, Access: apiserver.Access(f, in, name),
				CAClientSecret:          in.Secret(gardencorev1beta1.SecretCAClient).Name,
				ServiceAccountKeySecret: in.Secret(gardencorev1beta1.SecretServiceAccountKey).Name,
				PodNetworks:             f.PodNetworks(), ServiceNetworks: f.ServiceNetworks(), Workers: f.Workers(),
				Settings: f.Shoot.Spec.Kubernetes.KubeControllerManager,
			})
		},
	}
}
