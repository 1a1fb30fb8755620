// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// watched are the extension kinds that can make an extension necessary.
func watched() []extensions.Kind {
	return extensions.KindsWhere(func(k extensions.Kind) bool { return k.OnSeeds })
}

// Reconcile decides about one installation.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, installation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	registration := &gardencorev1beta1.ControllerRegistration{}
	name := installation.Spec.RegistrationRef.Name
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	used, err := r.used(ctx, registration)
	if err != nil {
		return reconcile.Result{}, err
	}
	commit := kit.Begin(r.GardenClient, installation)
	installation.Status.Conditions = kit.SetCondition(installation.Status.Conditions, Judge(used), r.Clock.Now())
	return commit.Status(ctx, kit.Stop(), nil)
}

// used lists the kinds and types of the registration that the seed has objects of.
func (r *Reconciler) used(ctx context.Context, registration *gardencorev1beta1.ControllerRegistration) ([]string, error) {
	var used []string
	for _, resource := range registration.Spec.Resources {
		kind, known := extensions.Named(resource.Kind)
		if !known || !kind.OnSeeds {
			continue
		}
		list := kind.NewList()
		if err := r.SeedReader.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list extension objects of kind %q: %w", resource.Kind, err)
		}
		found, err := contains(list, resource.Type)
		if err != nil {
			return nil, err
		}
		if found {
			used = append(used, resource.Kind+"/"+resource.Type)
		}
	}
	slices.Sort(used)
	return used, nil
}

func contains(list client.ObjectList, kind string) (bool, error) {
	found := false
	err := meta.EachListItem(list, func(item runtime.Object) error {
		extension, ok := item.(gardenextensionsv1alpha1.Object)
		if !ok {
			return nil
		}
		spec := extension.GetExtensionSpec()
		found = found || (spec.Type == kind && (spec.Class == nil || *spec.Class != gardenextensionsv1alpha1.ExtensionClassGarden))
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("read %T: %w", list, err)
	}
	return found, nil
}

func offers(registration *gardencorev1beta1.ControllerRegistration, kind, ofType string) bool {
	return slices.ContainsFunc(registration.Spec.Resources, func(resource gardencorev1beta1.ControllerResource) bool {
		return resource.Kind == kind && resource.Type == ofType
	})
}

// Judge makes the condition of the kinds and types in use.
func Judge(used []string) gardencorev1beta1.Condition {
	if len(used) == 0 {
		return gardencorev1beta1.Condition{
			Type: gardencorev1beta1.ConditionTypeRequired, Status: gardencorev1beta1.ConditionFalse,
			Reason: gardencorev1beta1.ReasonNoExtensionObjects, Message: "The seed has no extension objects of the registered kinds and types",
		}
	}
	return gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ConditionTypeRequired, Status: gardencorev1beta1.ConditionTrue,
		Reason: gardencorev1beta1.ReasonExtensionObjectsExist, Message: "The seed has extension objects: " + strings.Join(used, ", "),
	}
}
