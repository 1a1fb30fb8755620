// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// seedChanges lets changes of spec, labels and deletion timestamp through.
func seedChanges() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
				(e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil) ||
				!maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// installationChanges lets deletions through, and those that are required no longer, or again.
func installationChanges() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*gardencorev1beta1.ControllerInstallation)
			if !ok {
				return false
			}
			after, ok := e.ObjectNew.(*gardencorev1beta1.ControllerInstallation)
			return ok && !equality.Semantic.DeepEqual(requiredOf(before), requiredOf(after))
		},
	}
}

func requiredOf(installation *gardencorev1beta1.ControllerInstallation) *gardencorev1beta1.Condition {
	return query.FindCondition(installation.Status.Conditions, gardencorev1beta1.ConditionTypeRequired)
}

// shootChanges lets changes of the seed and of everything that names an extension through.
func shootChanges() predicate.Predicate {
	return factChanges(func(object client.Object) any {
		shoot, ok := object.(*gardencorev1beta1.Shoot)
		if !ok {
			return nil
		}
		return []any{
			shoot.Spec.SeedName, shoot.Status.SeedName, shoot.Spec.Provider.Type, shoot.Spec.Provider.Workers,
			shoot.Spec.Extensions, shoot.Spec.DNS, shoot.Spec.Networking,
		}
	})
}

// needChanges lets changes of the seed, the provider and the bucket of backups through.
func needChanges() predicate.Predicate {
	return factChanges(func(object client.Object) any {
		switch o := object.(type) {
		case *gardencorev1beta1.BackupBucket:
			return []any{o.Spec.SeedName, o.Spec.Provider.Type}
		case *gardencorev1beta1.BackupEntry:
			return []any{o.Spec.SeedName, o.Status.SeedName, o.Spec.BucketName}
		default:
			return nil
		}
	})
}

// domainChanges lets changes of the garden's domains through.
func domainChanges() predicate.Predicate {
	return predicate.Or(
		predicate.And(predicate.NewPredicateFuncs(ofDomain), factChanges(domainFacts)),
		// A Secret that was one of a domain and is not any more.
		predicate.Funcs{
			CreateFunc: func(event.CreateEvent) bool { return false },
			DeleteFunc: func(event.DeleteEvent) bool { return false },
			UpdateFunc: func(e event.UpdateEvent) bool { return ofDomain(e.ObjectOld) && !ofDomain(e.ObjectNew) },
		},
	)
}

func domainFacts(secret client.Object) any {
	return []string{
		secret.GetLabels()[gardencorev1beta1.LabelRole],
		secret.GetAnnotations()[gardencorev1beta1.AnnotationDNSDomain], secret.GetAnnotations()[gardencorev1beta1.AnnotationDNSProvider],
	}
}

// factChanges lets objects come and go, and changes of some facts through.
func factChanges(facts func(client.Object) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(facts(e.ObjectOld), facts(e.ObjectNew))
	}}
}
