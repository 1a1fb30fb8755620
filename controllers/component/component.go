// SPDX-License-Identifier: Apache-2.0

package component

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Name is the name of a component, of its workload and of its inventory.
type Name string

// Component describes one part of a control plane, of what every shoot has inside, or of a seed. F are the facts of the cluster
// that it is part of. Package assembly turns components into tasks.
type Component[F any] struct {
	Name Name
	// Title is what people call it, with an article: "the API server".
	Title string
	// Task is the id of its tasks in flows if that is not its name. Ids are kept with errors, so they do not change.
	Task flow.ID
	// After names the components that have to be ready before it is deployed. It is deleted before them.
	After []Name
	// Addresses names the components whose addresses Secrets and Render need. It also comes after them.
	Addresses []Name
	// Wanted reports whether the component has to exist; nil stands for always. One that is no longer wanted is removed.
	Wanted func(facts F) bool
	// Replicas is the number of instances; nil stands for components without a number.
	Replicas func(facts F) int32
	// Images names the images that Render needs.
	Images []string
	// Service is applied before anything else, because certificates or other components need its address; nil stands for
	// components without such a Service. Render returns it too.
	Service func(facts F) *corev1.Service
	// Keep names the live object that Render has to see, because values in it can never change, or because they are what it renders.
	Keep func(facts F) client.Object
	// Secrets lists the generated secrets that Render needs; nil stands for none.
	Secrets func(facts F, addresses Addresses) ([]Request, error)
	// Render returns all objects of the component. It is pure.
	Render func(facts F, in *Inputs) ([]client.Object, error)
	// Care says what the health checks expect of it.
	Care Care
}

// Care says how the health of a component is checked. The zero value means not at all.
type Care struct {
	// Condition is the condition of the shoot that the component counts for.
	Condition gardencorev1beta1.ConditionType
	// Workload is what has to exist under the name of the component and be healthy.
	Workload Workload
}

// Workload is a kind of workload, as conditions name it in their reasons and messages.
type Workload string

const (
	// WorkloadEtcd is the StatefulSet of an etcd.
	WorkloadEtcd Workload = "Etcd"
	// WorkloadDeployment is a Deployment.
	WorkloadDeployment Workload = "Deployment"
)

// TaskID is the id of the task that deploys the component.
func (c *Component[F]) TaskID() flow.ID {
	if c.Task != "" {
		return c.Task
	}
	return flow.ID(c.Name)
}

// Needs reports whether the component comes after the other one.
func (c *Component[F]) Needs(other Name) bool {
	return slices.Contains(c.After, other) || slices.Contains(c.Addresses, other)
}

// IsWanted reports whether the component has to exist.
func (c *Component[F]) IsWanted(facts F) bool {
	return c.Wanted == nil || c.Wanted(facts)
}
