// SPDX-License-Identifier: Apache-2.0

package controllerdeployment

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects ControllerDeployments from being deleted under a ControllerRegistration.
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:       "controllerdeployment",
		New:        func() client.Object { return &gardencorev1beta1.ControllerDeployment{} },
		Finalizer:  gardencorev1beta1.FinalizerControllerDeployment,
		References: references,
		Releases:   []inuse.Release{{Object: &gardencorev1beta1.ControllerRegistration{}, Of: deployments}},
	}
}

func references(ctx context.Context, reader client.Reader, deployment client.Object) ([]string, error) {
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	if err := reader.List(ctx, registrations); err != nil {
		return nil, fmt.Errorf("list controller registrations: %w", err)
	}
	return Users(deployment.GetName(), registrations.Items), nil
}

// Users names the registrations that name the deployment.
func Users(deployment string, registrations []gardencorev1beta1.ControllerRegistration) []string {
	var users []string
	for i := range registrations {
		if slices.Contains(deployments(&registrations[i]), types.NamespacedName{Name: deployment}) {
			users = append(users, inuse.Name("ControllerRegistration", &registrations[i]))
		}
	}
	return users
}

func deployments(object client.Object) []types.NamespacedName {
	registration, ok := object.(*gardencorev1beta1.ControllerRegistration)
	if !ok || registration.Spec.Deployment == nil {
		return nil
	}
	keys := make([]types.NamespacedName, 0, len(registration.Spec.Deployment.DeploymentRefs))
	for _, ref := range registration.Spec.Deployment.DeploymentRefs {
		keys = append(keys, types.NamespacedName{Name: ref.Name})
	}
	return keys
}
