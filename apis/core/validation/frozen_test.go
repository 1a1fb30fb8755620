// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// TestFrozen_API_FIN_1 changes the spec of objects in deletion, which others still use, and something else.
func TestFrozen_API_FIN_1(t *testing.T) {
	t.Parallel()
	ending := metav1.ObjectMeta{Name: "a", Namespace: "garden-meadow", ResourceVersion: "1", DeletionTimestamp: new(metav1.Now())}
	for name, update := range map[string]func(change bool) field.ErrorList{
		"NamespacedCloudProfile": func(change bool) field.ErrorList {
			old := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: ending}
			old.Spec.MachineTypes = []gardencorev1beta1.MachineType{{Name: "large"}}
			now := old.DeepCopy()
			if change {
				now.Spec.MachineTypes = nil
			}
			return validation.ValidateNamespacedCloudProfileUpdate(now, old)
		},
		"CloudProfile": func(change bool) field.ErrorList {
			old := &gardencorev1beta1.CloudProfile{ObjectMeta: ending}
			old.Spec.MachineTypes = []gardencorev1beta1.MachineType{{Name: "large"}}
			now := old.DeepCopy()
			if change {
				now.Spec.MachineTypes = nil
			}
			return validation.ValidateCloudProfileUpdate(now, old)
		},
		"Plant": func(change bool) field.ErrorList {
			old := &gardencorev1beta1.Plant{ObjectMeta: ending}
			old.Spec.SecretRef.Name = "mine"
			now := old.DeepCopy()
			if change {
				now.Spec.SecretRef.Name = "other"
			}
			return validation.ValidatePlantUpdate(now, old)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frozen := func(e *field.Error) bool {
				return e.Field == "spec" && e.Type == field.ErrorTypeForbidden && strings.Contains(e.Detail, "being deleted")
			}
			for _, change := range []bool{true, false} {
				if errs := update(change); slices.ContainsFunc(errs, frozen) != change {
					t.Errorf("a change of the spec: %t, errors %v", change, errs)
				}
			}
		})
	}
}
