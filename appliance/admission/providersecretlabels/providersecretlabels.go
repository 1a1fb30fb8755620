// SPDX-License-Identifier: Apache-2.0

// Package providersecretlabels labels the credentials of a project with their providers, so that extensions of providers can
// select and validate them (GAC-PSL-1).
package providersecretlabels

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.MutationInterface = &rule{}

// Admit sets the labels of a Secret or an InternalSecret to the providers of the bindings that refer to it.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	kind, known := map[string]string{
		corev1.Resource("secrets").String():                    "Secret",
		gardencorev1beta1.Resource("internalsecrets").String(): "InternalSecret",
	}[a.GetResource().GroupResource().String()]
	if !known || a.GetSubresource() != "" || world.Tried(a) {
		return nil
	}
	of, err := r.world.Cached().OfProject(ctx, a.GetNamespace())
	if err != nil || !of {
		return world.Answer(a, err)
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return world.Answer(a, fmt.Errorf("%w: %w", world.ErrUnreadable, err))
	}
	given := object.GetLabels()
	types, err := providers(ctx, r.world.Cached(), func(leaving metav1.Object, provider string) bool {
		_, has := given[gardencorev1beta1.LabelPrefixShootProvider+provider]
		return leaving.GetDeletionTimestamp() == nil || has
	}, reference{kind: kind, namespace: a.GetNamespace(), name: object.GetName()})
	if err != nil {
		return world.Answer(a, err)
	}
	if want := labels(given, types); !maps.Equal(want, given) {
		object.SetLabels(want)
	}
	return nil
}

// labels replaces the labels of providers.
func labels(all map[string]string, types []string) map[string]string {
	want := maps.Clone(all)
	maps.DeleteFunc(want, func(key, _ string) bool { return strings.HasPrefix(key, gardencorev1beta1.LabelPrefixShootProvider) })
	for _, t := range types {
		if want == nil {
			want = map[string]string{}
		}
		want[gardencorev1beta1.LabelPrefixShootProvider+t] = "true"
	}
	return want
}

// reference identifies an object that a binding can refer to.
type reference struct{ kind, namespace, name string }

// providers returns the provider types of all bindings in all namespaces that refer to an object. A binding in deletion
// keeps an existing label, but does not add it again, because the controller that releases the credentials removes the label
// just before the binding is gone.
func providers(ctx context.Context, v world.View, counts func(binding metav1.Object, provider string) bool, to reference) ([]string, error) {
	var types []string
	if to.kind == "Secret" {
		bindings, err := world.List[gardencorev1beta1.SecretBindingList](ctx, v,
			world.Place{Group: gardencorev1beta1.GroupName, Resource: "secretbindings"}, fields.Everything())
		if err != nil {
			return nil, fmt.Errorf("list secret bindings: %w", err)
		}
		for i := range bindings.Items {
			b := &bindings.Items[i]
			if b.Provider == nil || b.SecretRef.Namespace != to.namespace || b.SecretRef.Name != to.name {
				continue
			}
			for t := range strings.SplitSeq(b.Provider.Type, ",") {
				if t = strings.TrimSpace(t); counts(b, t) {
					types = append(types, t)
				}
			}
		}
	}
	bindings, err := world.List[gardensecurityv1alpha1.CredentialsBindingList](ctx, v,
		world.Place{Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings"}, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list credentials bindings: %w", err)
	}
	for i := range bindings.Items {
		b := &bindings.Items[i]
		ref := b.CredentialsRef
		if (reference{kind: ref.Kind, namespace: ref.Namespace, name: ref.Name}) == to && counts(b, b.Provider.Type) {
			types = append(types, b.Provider.Type)
		}
	}
	slices.Sort(types)
	return slices.Compact(types), nil
}
