// SPDX-License-Identifier: Apache-2.0

// Package plant records the creator of a Plant, and rejects a second Plant for the same cluster (API-PLANT-1).
package plant

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit records the creator of a Plant.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Plant)
	if ok && a.GetOperation() == admission.Create && a.GetSubresource() == "" {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, gardencorev1beta1.AnnotationCreatedBy, a.GetUserInfo().GetName())
	}
	return nil
}

// Validate rejects Plants in projects in deletion, and a second one for a Secret. It accepts a Plant in deletion, whose
// finalizer can always be removed (API-ADM-6).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Plant)
	if !ok || a.GetSubresource() != "" || p.DeletionTimestamp != nil {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		project, err := v.ProjectOf(ctx, p.Namespace)
		if err != nil {
			return fmt.Errorf("find the project of namespace %q: %w", p.Namespace, err)
		}
		if project == nil {
			return fmt.Errorf("namespace %q does not belong to a project; plants must be in the namespace of a project", p.Namespace)
		}
		if project.DeletionTimestamp != nil {
			return fmt.Errorf("project %q is being deleted; nothing can be created in it", project.Name)
		}
		if old, ok := a.GetOldObject().(*gardencorev1beta1.Plant); ok && old.Spec.SecretRef.Name == p.Spec.SecretRef.Name {
			return nil
		}
		return alone(ctx, v.Fresh(), p)
	})
}

// alone rejects a Plant whose Secret another one uses. The view must be fresh: the cached one may lack the other.
func alone(ctx context.Context, v world.View, p *gardencorev1beta1.Plant) error {
	plants, err := world.List[gardencorev1beta1.PlantList](ctx, v,
		world.Place{Group: gardencorev1beta1.GroupName, Resource: "plants", Namespace: p.Namespace}, fields.Everything())
	if err != nil {
		return fmt.Errorf("list plants of namespace %q: %w", p.Namespace, err)
	}
	for _, other := range plants.Items {
		if other.Name != p.Name && other.Spec.SecretRef.Name == p.Spec.SecretRef.Name {
			return fmt.Errorf("spec.secretRef.name: plant %q already uses secret %q", other.Name, p.Spec.SecretRef.Name)
		}
	}
	return nil
}
