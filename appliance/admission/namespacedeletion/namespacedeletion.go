// SPDX-License-Identifier: Apache-2.0

// Package namespacedeletion keeps the namespace of a project from being deleted by itself: the project takes it along
// when the last shoot is gone (GAC-NS-1 to 5).
package namespacedeletion

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// limit is how long the rule may take.
const limit = 10 * time.Second

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate lets a namespace go when its project is going and has no shoots, or when it has no project. The server hands in
// the namespace as it is stored; one that does not exist is not asked about.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != corev1.Resource("namespaces") || a.GetSubresource() != "" {
		return nil
	}
	_, namespace, err := world.Objects[corev1.Namespace](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	if namespace == nil || namespace.DeletionTimestamp != nil ||
		namespace.Labels[gardencorev1beta1.LabelRole] != gardencorev1beta1.RoleProject {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	refusal := held(ctx, r.world.Fresh(), namespace.Name)
	if refusal == nil {
		return nil
	}
	return r.world.Rejected(a, "NamespaceOfProject", world.Answer(a, refusal))
}

// held says what keeps a namespace.
func held(ctx context.Context, v world.View, namespace string) error {
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return fmt.Errorf("find the project of namespace %q: %w", namespace, err)
	}
	if project == nil {
		return nil
	}
	if project.DeletionTimestamp == nil {
		return fmt.Errorf("namespace %q belongs to project %q; delete the project instead, it takes the namespace along",
			namespace, project.Name)
	}
	shoots, err := v.Names(ctx, world.Place{Group: gardencorev1beta1.GroupName, Resource: "shoots", Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list shoots in namespace %q: %w", namespace, err)
	}
	if len(shoots) == 0 {
		return nil
	}
	return fmt.Errorf("namespace %q still has shoots, delete them first: %s", namespace, strings.Join(shoots, ", "))
}
