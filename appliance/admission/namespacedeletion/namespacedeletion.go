// SPDX-License-Identifier: Apache-2.0

// Package namespacedeletion rejects the deletion of a project's namespace, which is deleted with the project when the last
// shoot is gone (GAC-NS-1 to 5).
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

// limit is the timeout of the plugin.
const limit = 10 * time.Second

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate accepts the deletion of a namespace if its project is in deletion and has no shoots, or if it has no project. The
// server passes the stored namespace; it does not run the plugin for a missing one.
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

// held returns an error that says why a namespace cannot be deleted.
func held(ctx context.Context, v world.View, namespace string) error {
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return fmt.Errorf("find the project of namespace %q: %w", namespace, err)
	}
	if project == nil {
		return nil
	}
	if project.DeletionTimestamp == nil {
		return fmt.Errorf("namespace %q belongs to project %q; delete the project instead, which deletes the namespace",
			namespace, project.Name)
	}
	shoots, err := v.Names(ctx, world.Place{Group: gardencorev1beta1.GroupName, Resource: "shoots", Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list shoots in namespace %q: %w", namespace, err)
	}
	if len(shoots) == 0 {
		return nil
	}
	return fmt.Errorf("namespace %q still has shoots; delete them first: %s", namespace, strings.Join(shoots, ", "))
}
