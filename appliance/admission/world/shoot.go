// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Shoot reads a Shoot.
func (v View) Shoot(ctx context.Context, namespace, name string) (*gardencorev1beta1.Shoot, error) {
	return Get[gardencorev1beta1.Shoot](ctx, v, Place{
		Group: gardencorev1beta1.GroupName, Resource: "shoots", Namespace: namespace, Name: name,
	})
}

// OwnTechnicalID returns an error if the technical ID of a shoot is set to another one than that which follows from the names of its
// project and of the shoot: gardenlets act on the namespace of that name in the seed (API-VALSHOOT-2).
func (v View) OwnTechnicalID(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) error {
	id := shoot.Status.TechnicalID
	if id == "" || id == old.Status.TechnicalID {
		return nil
	}
	project, err := v.Project(ctx, shoot.Namespace)
	if err != nil {
		return err
	}
	if want := query.TechnicalID(project.Name, shoot.Name); id != want {
		return fmt.Errorf("status.technicalID: is %q, but the technical ID of shoot %q in project %q is %q", id, shoot.Name, project.Name, want)
	}
	return nil
}
