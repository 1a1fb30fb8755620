// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Values say whose namespace it is.
type Values struct {
	// Name is the technical ID of the shoot, UID its status.uid.
	Name, UID string
	// Provider is the type of the shoot's provider, Network that of its network plugin, SeedProvider that of the seed.
	Provider, Network, SeedProvider string
	// Purpose is the purpose of the shoot.
	Purpose string
}

// Render returns the namespace.
func Render(v Values) []client.Object {
	labels := map[string]string{
		gardencorev1beta1.LabelRole:                             gardencorev1beta1.RoleShoot,
		gardencorev1beta1.LabelSeedProvider:                     v.SeedProvider,
		gardencorev1beta1.LabelShootProvider:                    v.Provider,
		gardencorev1beta1.LabelPrefixShootProvider + v.Provider: "true",
		gardencorev1beta1.AnnotationShootUID:                    v.UID,
	}
	if v.Network != "" {
		labels[gardencorev1beta1.LabelNetworkingProvider] = v.Network
	}
	if v.Purpose != "" {
		labels[gardencorev1beta1.LabelShootPurpose] = v.Purpose
	}
	return []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: v.Name, Labels: labels, Annotations: map[string]string{gardencorev1beta1.AnnotationShootUID: v.UID},
	}}}
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
