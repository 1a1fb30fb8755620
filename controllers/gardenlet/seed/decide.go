// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// MinimumKubernetesVersion is the oldest Kubernetes version that a seed may have.
const MinimumKubernetesVersion = "v1.31.0"

// Eventful reports whether a pass has something new to do, so that its progress is shown: the spec is new, the last operation
// did not succeed, somebody asked for it, or another gardenlet process did the last one.
func Eventful(seed *gardencorev1beta1.Seed, gardenlet gardencorev1beta1.Gardener) bool {
	last := seed.Status.LastOperation
	return seed.Status.ObservedGeneration != seed.Generation ||
		!operation.Succeeded(last) || last.Type != gardencorev1beta1.LastOperationTypeReconcile ||
		seed.Status.Gardener == nil || *seed.Status.Gardener != gardenlet ||
		seed.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationReconcile
}

// CheckVersion returns an error if a seed of that Kubernetes version is too old (GLET-SEED-5). A development build of
// Kubernetes does not know its version and reports v0; it is accepted.
func CheckVersion(kubernetes string) error {
	actual, err := version.ParseGeneric(kubernetes)
	if err != nil {
		return fmt.Errorf("parse Kubernetes version %q of the seed: %w", kubernetes, err)
	}
	if actual.Major() > 0 && actual.LessThan(version.MustParseGeneric(MinimumKubernetesVersion)) {
		return fmt.Errorf("the seed runs Kubernetes %s, but %s is the oldest version that is supported: upgrade the cluster", kubernetes, MinimumKubernetesVersion)
	}
	return nil
}

// Allocatable returns the configured capacity, and the capacity less what is reserved (GLET-SEED-3). Both are nil if nothing is
// configured.
func Allocatable(resources *gardenconfigv1alpha1.ResourcesConfiguration) (capacity, allocatable corev1.ResourceList) {
	if resources == nil || len(resources.Capacity) == 0 {
		return nil, nil
	}
	capacity, allocatable = corev1.ResourceList{}, corev1.ResourceList{}
	for name, quantity := range resources.Capacity {
		capacity[name] = quantity.DeepCopy()
		rest := quantity.DeepCopy()
		if reserved, ok := resources.Reserved[name]; ok {
			rest.Sub(reserved)
		}
		allocatable[name] = rest
	}
	return capacity, allocatable
}

// Reevaluate makes the conditions that an operation on the seed may have affected Progressing until they are evaluated again
// (GLET-SEED-10). Those that are False stay so.
func Reevaluate(conditions []gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.Condition {
	affected := []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeGardenletReady,
		gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
		gardencorev1beta1.ConditionTypeBackupBucketsReady,
		gardencorev1beta1.ConditionTypeExtensionsReady,
	}
	for _, condition := range conditions {
		if !slices.Contains(affected, condition.Type) || condition.Status == gardencorev1beta1.ConditionFalse {
			continue
		}
		condition.Status = gardencorev1beta1.ConditionProgressing
		condition.Reason = "Reconciling"
		condition.Message = "The seed was reconciled; the condition is about to be evaluated again"
		conditions = kit.SetCondition(conditions, condition, now)
	}
	return conditions
}

// References lists the Shoots that still need the seed, as namespace/name.
func References(shoots []gardencorev1beta1.Shoot, seed string) []string {
	var names []string
	for i := range shoots {
		if query.OnSeed(&shoots[i], seed) {
			names = append(names, shoots[i].Namespace+"/"+shoots[i].Name)
		}
	}
	slices.Sort(names)
	return names
}
