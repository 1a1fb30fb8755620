// SPDX-License-Identifier: Apache-2.0

package shootrestriction

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
)

// marks rejects finalizers and owners with which an object would hold a project, or an object of others, when the gardenlet is gone and nobody
// removes them. A request that changes the status cannot change them.
func (r *request) marks() error {
	if r.GetObject() == nil || r.GetSubresource() != "" {
		return nil
	}
	now, err := meta.Accessor(r.GetObject())
	if err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	var before metav1.Object = &metav1.ObjectMeta{}
	if old, err := meta.Accessor(r.GetOldObject()); err == nil {
		before = old
	}
	for _, f := range now.GetFinalizers() {
		if !slices.Contains(before.GetFinalizers(), f) && !r.holds(f) {
			return fmt.Errorf("metadata.finalizers: %q cannot be added: %w", f, reach.ErrOthers)
		}
	}
	for _, o := range now.GetOwnerReferences() {
		if !slices.ContainsFunc(before.GetOwnerReferences(), func(was metav1.OwnerReference) bool { return was.UID == o.UID && was.Name == o.Name }) &&
			!r.owner(o) {
			return fmt.Errorf("metadata.ownerReferences: %s %q cannot be added: %w", o.Kind, o.Name, reach.ErrOthers)
		}
	}

	return nil
}

// holds reports whether a finalizer is the one with which a gardenlet holds objects of this resource while it works with them.
func (r *request) holds(finalizer string) bool {
	core := gardencorev1beta1.Resource
	switch r.GetResource().GroupResource() {
	case core("controllerinstallations"):
		return finalizer == gardencorev1beta1.FinalizerControllerInstallation
	case core("backupbuckets"), core("backupentries"), core("shoots"), gardenoperationsv1alpha1.Resource("bastions"):
		return finalizer == gardencorev1beta1.FinalizerGardener
	default:
		return false
	}
}

// owner reports whether an owner is the client's shoot, in whose namespace the object is.
func (r *request) owner(o metav1.OwnerReference) bool {
	return schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind() == gardencorev1beta1.Kind("Shoot") &&
		r.client.Is(r.GetNamespace(), o.Name)
}
