// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed"
)

const (
	// identityPause is the time between two checks of a seed whose identity is not known yet.
	identityPause = time.Second

	labelInstallation = "controllerinstallation-name"
	labelRegistration = "controllerregistration-name"
	// LabelConfidential is on a ManagedResource whose objects have data of Secrets of the garden. What its status says may quote the data, and
	// must not leave the seed.
	LabelConfidential = "controllerinstallation.terrarium.garden/confidential"

	labelPodSecurity    = "pod-security.kubernetes.io/enforce"
	kindDefinition      = "CustomResourceDefinition"
	scopeOfNamespaces   = "Namespaced"
	messageInstallation = "The extension is installed"
)

// ensureNamespace applies the namespace of the extension (GLET-CI-3).
func (r *Reconciler) ensureNamespace(ctx context.Context, s *scope) (kit.Outcome, error) {
	if err := r.engine().Apply(ctx, HomeOf(s.installation, s.seed)); err != nil {
		return r.failed(s, err)
	}
	return kit.Continue(), nil
}

// HomeOf returns the namespace of an installation. It is applied with one field owner, so a label that is not wanted any
// more is removed.
func HomeOf(installation *gardencorev1beta1.ControllerInstallation, seed *gardencorev1beta1.Seed) *corev1.Namespace {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: Namespace(installation.Name),
		Labels: map[string]string{
			gardencorev1beta1.LabelRole:                       gardencorev1beta1.RoleExtension,
			gardencorev1beta1.LabelControllerRegistrationName: installation.Spec.RegistrationRef.Name,
			gardenresourcesv1alpha1.LabelConsiderAvailability: "true",
		},
	}}
	if zones := seed.Spec.Provider.Zones; len(zones) > 0 {
		namespace.Annotations = map[string]string{gardenresourcesv1alpha1.AnnotationZones: strings.Join(zones, ",")}
	}
	if level := installation.Annotations[gardencorev1beta1.AnnotationPodSecurityEnforce]; level != "" {
		namespace.Labels[labelPodSecurity] = level
	}
	return namespace
}

// apply has the objects applied to the seed, and waits for that. What an earlier version has applied itself is handed over then.
func (r *Reconciler) apply(ctx context.Context, s *scope) (kit.Outcome, error) {
	set := Set(s.installation.Name)
	set.Labels = map[string]string{labelInstallation: s.installation.Name, labelRegistration: s.installation.Spec.RegistrationRef.Name}
	if s.confidential {
		set.Labels[LabelConfidential] = "true"
	}
	err := r.place(s)
	if err == nil {
		err = r.fence(s)
	}
	if err == nil {
		err = set.Apply(ctx, r.engine(), s.objects...)
	}
	if err == nil {
		if err = set.Applied(ctx, r.SeedClient); err != nil && s.confidential {
			err = quiet(err, set)
		}
	}
	if errors.Is(err, managed.ErrPending) {
		if !kit.ConditionIs(s.installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue) {
			r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonInstallationPending, err.Error())
		}

		return kit.Stop(), kit.Wait(applyPause, err.Error())
	}
	if err == nil {
		err = r.engine().HandOver(ctx, inventory(s.installation.Name), s.objects...)
	}
	if err != nil {
		return r.failed(s, err)
	}
	r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonInstallationSuccessful, messageInstallation)
	return kit.Continue(), nil
}

// quiet returns an error in the place of one that may quote data of Secrets.
func quiet(err error, set managed.Set) error {
	said := errors.New(Untold(set.Namespace, set.Name))
	switch {
	case errors.Is(err, managed.ErrPending):
		return fmt.Errorf("%w: %w", managed.ErrPending, said)
	case !kit.IsFailure(err):
		return err // A conflict, which says nothing of the content.
	default:
		return said
	}
}

// Untold says in the garden where to read what is not told there.
func Untold(namespace, name string) string {
	return fmt.Sprintf("the reason is in the status of ManagedResource \"%s/%s\" of the seed only, because it could show the data of Secrets that the values refer to", namespace, name)
}

func (r *Reconciler) failed(s *scope, err error) (kit.Outcome, error) {
	if kit.IsFailure(err) {
		r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonInstallationFailed, err.Error())
	}
	return kit.Stop(), err
}

// place puts namespaced objects without a namespace into that of the extension.
func (r *Reconciler) place(s *scope) error {
	defined := definedKinds(s.objects)
	for _, object := range s.objects {
		if object.GetNamespace() != "" {
			continue
		}
		namespaced, known := defined[object.GetObjectKind().GroupVersionKind().GroupKind()]
		if !known {
			var err error
			namespaced, err = r.SeedClient.IsObjectNamespaced(object)
			if meta.IsNoMatchError(err) {
				return fmt.Errorf("the seed does not know the kind of %s %q", object.GetObjectKind().GroupVersionKind().GroupKind(), object.GetName())
			}
			if err != nil {
				return fmt.Errorf("find out whether %T %q has a namespace: %w", object, object.GetName(), err)
			}
		}
		if namespaced {
			object.SetNamespace(Namespace(s.installation.Name))
		}
	}
	return nil
}

// definedKinds returns the kinds that the chart defines itself, and whether they are namespaced.
func definedKinds(objects []client.Object) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, object := range objects {
		definition, ok := object.(*unstructured.Unstructured)
		if !ok || definition.GetKind() != kindDefinition {
			continue
		}
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(definition.Object, "spec", "scope")
		kinds[schema.GroupKind{Group: group, Kind: kind}] = scope == scopeOfNamespaces
	}
	return kinds
}

func (r *Reconciler) removeObjects(ctx context.Context, s *scope) (kit.Outcome, error) {
	done, err := r.engine().DeleteSet(ctx, inventory(s.installation.Name))
	if err != nil {
		return kit.Stop(), err
	}
	gone, err := Set(s.installation.Name).Delete(ctx, r.engine())
	if err != nil {
		return kit.Stop(), err
	}
	if !done || !gone {
		return kit.Stop(), kit.Wait(deletionPause, "Objects of the extension are being deleted")
	}
	return kit.Continue(), nil
}

func (r *Reconciler) removeNamespace(ctx context.Context, s *scope) (kit.Outcome, error) {
	namespace := &corev1.Namespace{}
	err := r.SeedClient.Get(ctx, client.ObjectKey{Name: Namespace(s.installation.Name)}, namespace)
	if apierrors.IsNotFound(err) {
		return kit.Continue(), nil
	}
	if err != nil {
		return kit.Stop(), fmt.Errorf("get namespace %q of the seed: %w", Namespace(s.installation.Name), err)
	}
	if namespace.DeletionTimestamp == nil {
		if err := kit.Remove(ctx, r.SeedClient, namespace); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Stop(), kit.Wait(deletionPause, "The namespace of the extension is being deleted")
}
