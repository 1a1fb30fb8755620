// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// name is also that of its image and of its certificate.
const name = gardencorev1beta1.DeploymentKubeScheduler

// Component is the scheduler. A shoot without nodes has none, and one in deletion needs none any more.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the scheduler", Task: "scheduler", Images: []string{name}, Replicas: component.One[facts.Shoot],
		After:  []component.Name{apiserver.Name},
		Wanted: func(f facts.Shoot) bool { return f.Workers() && !f.Deleting() },
		Care:   component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return apiserver.ClientRequests(name, User), nil
		},
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			return Render(Values{
				Namespace: f.Namespace, Image: in.Image(name), Replicas: in.Replicas, Access: apiserver.Access(f, in, name),
				Settings: f.Shoot.Spec.Kubernetes.KubeScheduler,
			})
		},
	}
}
