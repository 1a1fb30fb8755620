// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// ground is what tasks stand on that work in the seed: the shoot, as it was when the run began, and the seed's cluster.
type ground struct {
	facts facts.Shoot
	seed  client.Client
	clock clock.Clock
}

func (g ground) engine() deploy.Engine {
	return deploy.Engine{Client: g.seed, Owner: fieldOwner, Clock: g.clock}
}

func (g ground) extensions() extension.Engine {
	return extension.Engine{Client: g.seed, Clock: g.clock}
}

// providerSecret is where extensions find the credentials of the cloud.
func (g ground) providerSecret() corev1.SecretReference {
	return corev1.SecretReference{Namespace: g.facts.Namespace, Name: gardencorev1beta1.SecretCloudProvider}
}

// report changes the status of the shoot.
type report func(ctx context.Context, change func(status *gardencorev1beta1.ShootStatus)) error

// values are what tasks of different parts hand to each other.
type values struct {
	// addresses are those of components; that of the API server is used all over the flow.
	addresses addresses
	// infrastructure is the answer of the extension.
	infrastructure *flow.Value[*gardenextensionsv1alpha1.Infrastructure]
	// userData names the Secrets with the user data of each pool.
	userData *flow.Value[map[string]string]
	// shootClient reaches the shoot, once its API server answers.
	shootClient *flow.Value[client.Client]
}

// fragment is what a part of the house contributes to the flows of a shoot.
type fragment struct {
	// deploy brings it into being and up to date.
	deploy []flow.Task
	// destroy takes it away, and before that brings up again what others need for going away in order.
	destroy []flow.Task
}
