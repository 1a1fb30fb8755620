// SPDX-License-Identifier: Apache-2.0

// Package namespace renders the namespace of a shoot in its seed, and the priority classes that its control plane uses.
package namespace

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// Render returns the namespace. It tells in which zones of the seed the control plane may run (GLET-RECON-1, task 1). If its owner names
// some, its workloads are kept there, unless it may already have volumes anywhere.
func Render(f facts.Shoot, anywhere bool) []client.Object {
	spec, uid := &f.Shoot.Spec, string(f.Shoot.Status.UID)
	labels := map[string]string{
		gardencorev1beta1.LabelRole:                                     gardencorev1beta1.RoleShoot,
		gardencorev1beta1.LabelSeedProvider:                             f.Seed.Spec.Provider.Type,
		gardencorev1beta1.LabelShootProvider:                            spec.Provider.Type,
		gardencorev1beta1.LabelPrefixShootProvider + spec.Provider.Type: "true",
		gardencorev1beta1.AnnotationShootUID:                            uid,
	}
	if n := spec.Networking; n != nil && n.Type != nil && *n.Type != "" {
		labels[gardencorev1beta1.LabelNetworkingProvider] = *n.Type
	}
	if backup := f.Seed.Spec.Backup; backup != nil {
		labels[gardencorev1beta1.LabelBackupProvider] = backup.Provider
	}
	if spec.Purpose != nil && *spec.Purpose != "" {
		labels[gardencorev1beta1.LabelShootPurpose] = string(*spec.Purpose)
	}
	annotations := map[string]string{gardencorev1beta1.AnnotationShootUID: uid}
	zones := f.Seed.Spec.Provider.Zones
	if plane := spec.ControlPlane; plane != nil && len(plane.Zones) > 0 && !anywhere {
		zones = plane.Zones
		labels[gardenresourcesv1alpha1.LabelConsiderAvailability] = "true"
		annotations[gardenresourcesv1alpha1.AnnotationZonePinning] = "true"
	}
	if len(zones) > 0 {
		annotations[gardenresourcesv1alpha1.AnnotationZones] = strings.Join(zones, ",")
	}
	return []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace, Labels: labels, Annotations: annotations}}}
}

// Anywhere reports whether the control plane in a namespace has been made without being kept in zones.
func Anywhere(live *corev1.Namespace) bool {
	return live.Annotations[gardenresourcesv1alpha1.AnnotationZonePinning] != "true"
}

// PriorityClasses returns the classes of control planes. They belong to the seed and outlive every shoot.
func PriorityClasses() []client.Object {
	class := func(name string, value int32) client.Object {
		return &schedulingv1.PriorityClass{
			ObjectMeta:  metav1.ObjectMeta{Name: name},
			Value:       value,
			Description: "Components of the control planes of shoots",
		}
	}
	return []client.Object{
		class(gardencorev1beta1.PriorityClassShootControlPlane500, 999998500),
		class(gardencorev1beta1.PriorityClassShootControlPlane400, 999998400),
		class(gardencorev1beta1.PriorityClassShootControlPlane300, 999998300),
		class(gardencorev1beta1.PriorityClassShootControlPlane200, 999998200),
		class(gardencorev1beta1.PriorityClassShootControlPlane100, 999998100),
	}
}
