// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// bound is a Secret for which a binding begins to be, and the providers that it is for.
type bound struct {
	path, namespace, name string
	providers             []string
}

// begins returns the Secret that a request binds to further providers, if there is one.
func begins(a admission.Attributes) (bound, bool) {
	switch b := a.GetObject().(type) {
	case *gardencorev1beta1.SecretBinding:
		if b.Provider == nil || equality.Semantic.DeepEqual(b.Provider, before[gardencorev1beta1.SecretBinding](a).Provider) {
			return bound{}, false
		}
		return bound{"secretRef", b.SecretRef.Namespace, b.SecretRef.Name, strings.Split(b.Provider.Type, ",")}, true
	case *gardensecurityv1alpha1.CredentialsBinding:
		if b.CredentialsRef.Kind != kindSecret || b.Provider == before[gardensecurityv1alpha1.CredentialsBinding](a).Provider {
			return bound{}, false
		}
		return bound{"credentialsRef", b.CredentialsRef.Namespace, b.CredentialsRef.Name, []string{b.Provider.Type}}, true
	default:
		return bound{}, false
	}
}

// shows has the webhooks of its providers look at the Secret of a new binding. They select Secrets by a label for each provider. The
// Secret gets the label from a controller later, and the webhooks then look at its contents only if they change. So a copy with the
// label is created in a dry run (API-RRM-2).
func (r *rule) shows(ctx context.Context, a admission.Attributes) error {
	b, ok := begins(a)
	if !ok {
		return nil
	}
	secret, err := r.world.Fresh().Secret(ctx, b.namespace, b.name)
	if apierrors.IsNotFound(err) {
		return nil // It existed a moment ago, see check.
	}
	if err != nil {
		return world.Answer(a, fmt.Errorf("%s: read Secret %q: %w", b.path, b.namespace+"/"+b.name, err))
	}
	labels, known := map[string]string{}, true
	for _, provider := range b.providers {
		key := gardencorev1beta1.LabelPrefixShootProvider + strings.TrimSpace(provider)
		labels[key] = "true"
		known = known && secret.Labels[key] == "true"
	}
	if known || secret.Type == corev1.SecretTypeServiceAccountToken {
		return nil
	}
	err = r.world.Try(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, GenerateName: "bound-", Labels: labels},
		Type:       secret.Type, Data: secret.Data, Immutable: secret.Immutable,
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, world.ErrUnreadable):
		return world.Answer(a, err)
	default:
		return world.Answer(a, fmt.Errorf("%s: Secret %q cannot be bound to %s: %w", b.path, b.namespace+"/"+b.name, strings.Join(b.providers, ", "), err))
	}
}
