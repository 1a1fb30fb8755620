// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// findDeployment reads the deployment that the installation names. There is none if somebody else installs the extension.
func (r *Reconciler) findDeployment(ctx context.Context, s *scope) error {
	reference := s.installation.Spec.DeploymentRef
	if reference == nil {
		return nil
	}
	deployment := &gardencorev1.ControllerDeployment{}
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: reference.Name}, deployment); err != nil {
		return fmt.Errorf("get controller deployment %q: %w", reference.Name, err)
	}
	s.deployment = deployment
	return nil
}

func (r *Reconciler) findRegistration(ctx context.Context, s *scope) (kit.Outcome, error) {
	name := s.installation.Spec.RegistrationRef.Name
	s.registration = &gardencorev1beta1.ControllerRegistration{}
	err := r.GardenClient.Get(ctx, client.ObjectKey{Name: name}, s.registration)
	return r.found(s, fmt.Sprintf("controller registration %q", name), err,
		gardencorev1beta1.ReasonRegistrationNotFound, gardencorev1beta1.ReasonRegistrationReadError)
}

func (r *Reconciler) findSeed(ctx context.Context, s *scope) (kit.Outcome, error) {
	s.seed = &gardencorev1beta1.Seed{}
	err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, s.seed)
	outcome, err := r.found(s, fmt.Sprintf("seed %q", r.SeedName), err,
		gardencorev1beta1.ReasonSeedNotFound, gardencorev1beta1.ReasonSeedReadError)
	if err != nil {
		return outcome, err
	}
	if s.seed.Status.ClusterIdentity == nil {
		return kit.Stop(), kit.Wait(identityPause, fmt.Sprintf("the identity of seed %q is not known yet", r.SeedName))
	}
	return kit.Continue(), nil
}

// found reports an object that could not be read as a condition.
func (r *Reconciler) found(s *scope, what string, err error, missing, unreadable string) (kit.Outcome, error) {
	switch {
	case err == nil:
		return kit.Continue(), nil
	case apierrors.IsNotFound(err):
		return r.invalid(s, missing, fmt.Errorf("%s does not exist", what))
	default:
		r.set(s, gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionUnknown, unreadable, "Cannot read "+what)
		return kit.Stop(), fmt.Errorf("get %s: %w", what, err)
	}
}
