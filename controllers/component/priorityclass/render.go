// SPDX-License-Identifier: Apache-2.0

package priorityclass

import (
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Render returns the classes of control planes.
func Render() []client.Object {
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
