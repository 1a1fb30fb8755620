// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// place is where a shoot is: its project, and its namespace in the seed.
type place struct{ project, namespace string }

// placeOf returns the place of a shoot. The technical ID in the status may have been written by somebody else, so it is an error if it is
// not the one that follows from the names of project and shoot, or if the namespace belongs to another shoot (GLET-SHOOT-18).
func (r *Reconciler) placeOf(ctx context.Context, shoot *gardencorev1beta1.Shoot) (place, error) {
	project, err := r.project(ctx, shoot)
	if err != nil {
		return place{}, err
	}
	p := place{project: project, namespace: query.TechnicalID(project, shoot.Name)}
	if id := shoot.Status.TechnicalID; id != "" && id != p.namespace {
		return place{}, misplaced("status.technicalID is %q, but the technical ID of shoot %q in project %q is %q", id, shoot.Name, project, p.namespace)
	}
	return p, owned(ctx, r.SeedClient, p.namespace, shoot)
}

// CheckPlace returns an error if the technical ID of a shoot cannot be its own, or if the namespace of that name in the seed belongs to
// another shoot. It is for controllers that do not know the project.
func CheckPlace(ctx context.Context, seed client.Reader, shoot *gardencorev1beta1.Shoot) error {
	id := shoot.Status.TechnicalID
	if id == "" {
		return nil
	}
	if !query.IsTechnicalID(id, shoot.Name) {
		return misplaced("status.technicalID is %q, which cannot be the technical ID of shoot %q", id, shoot.Name)
	}
	return owned(ctx, seed, id, shoot)
}

// owned returns an error if a namespace belongs to another shoot. One without an annotation belongs to none.
func owned(ctx context.Context, seed client.Reader, name string, shoot *gardencorev1beta1.Shoot) error {
	namespace := &corev1.Namespace{}
	err := seed.Get(ctx, client.ObjectKey{Name: name}, namespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get namespace %q: %w", name, err)
	}
	own := string(cmp.Or(shoot.Status.UID, shoot.UID))
	if uid := namespace.Annotations[gardencorev1beta1.AnnotationShootUID]; uid != "" && uid != own {
		return misplaced("namespace %q on the seed belongs to the shoot with UID %q, not to the one with UID %q; "+
			"if that shoot does not exist any more, delete what is left of it on the seed", name, uid, own)
	}
	return nil
}

func misplaced(format string, args ...any) error {
	return lastoperation.WithCodes(fmt.Errorf(format, args...), gardencorev1beta1.ErrorCodeConfigurationProblem)
}
