// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// operations reports whether an operation annotation requires a new generation, and removes the operations that need nothing
// else (API-SHOOTSTRAT-3 to 6).
func operations(obj, old *gardencorev1beta1.Shoot) bool {
	asked := normalize(obj, gardencorev1beta1.AnnotationOperation)
	normalize(obj, gardencorev1beta1.AnnotationMaintenanceOperation)
	if len(asked) == 0 || slices.Contains(asked, "") || obj.Status.LastOperation == nil {
		return false // Validation rejects an empty operation.
	}
	if obj.Status.LastOperation.State == gardencorev1beta1.LastOperationStateFailed {
		if !slices.Equal(asked, []string{gardencorev1beta1.OperationRetry}) {
			return false
		}
		delete(obj.Annotations, gardencorev1beta1.AnnotationOperation)
		return true
	}
	return consume(obj, old, asked)
}

// consume handles the operations of a shoot that has not failed: reconcile is removed; rotations stay for the gardenlet, and
// increase the generation only when they are added.
func consume(obj, old *gardencorev1beta1.Shoot, asked []string) bool {
	before := query.Operations(old.Annotations[gardencorev1beta1.AnnotationOperation])
	grows := false
	var kept []string
	for _, op := range asked {
		switch {
		case slices.ContainsFunc(asked, func(other string) bool { return slices.Contains(query.CoveredOperations(other), op) }):
			// Removed: another requested operation includes it.
		case op == gardencorev1beta1.OperationReconcile:
			grows = true
		case op == gardencorev1beta1.OperationRotateSSHKeypair && !query.SSHAllowed(&obj.Spec):
			// Removed without effect: there is no key pair to rotate.
		case strings.HasPrefix(op, "rotate-") || strings.HasPrefix(op, "rollout-workers="):
			grows = grows || !slices.Contains(before, op)
			kept = append(kept, op)
		default:
			kept = append(kept, op)
		}
	}
	write(obj, gardencorev1beta1.AnnotationOperation, kept)
	return grows
}

// normalize trims, sorts and deduplicates the operations in an annotation, so that the same operations always have the same
// value (API-SHOOTSTRAT-6).
func normalize(obj *gardencorev1beta1.Shoot, key string) []string {
	value, ok := obj.Annotations[key]
	if !ok {
		return nil
	}
	all := query.Operations(value)
	slices.Sort(all)
	if !slices.Contains(all, "") { // Otherwise validation has to see the original value, to reject it.
		write(obj, key, all)
	}
	return all
}

func write(obj *gardencorev1beta1.Shoot, key string, values []string) {
	if len(values) == 0 {
		delete(obj.Annotations, key)
		return
	}
	obj.Annotations[key] = strings.Join(values, ";")
}

// mirrorLabels sets the labels by which shoots are selected by seed, and the label of self-hosted shoots (API-STRAT-10).
func mirrorLabels(s *gardencorev1beta1.Shoot) {
	maps.DeleteFunc(s.Labels, func(key, _ string) bool {
		return key == gardencorev1beta1.LabelShootSelfHosted || strings.HasPrefix(key, gardencorev1beta1.LabelPrefixSeedName)
	})
	for _, name := range []*string{s.Spec.SeedName, s.Status.SeedName} {
		if name != nil && *name != "" {
			metav1.SetMetaDataLabel(&s.ObjectMeta, gardencorev1beta1.LabelPrefixSeedName+*name, "true")
		}
	}
	if query.SelfHosted(&s.Spec) {
		metav1.SetMetaDataLabel(&s.ObjectMeta, gardencorev1beta1.LabelShootSelfHosted, "true")
	}
}
