// SPDX-License-Identifier: Apache-2.0

// Package tokensecret requires the permission to request tokens of a service account from users who create a Secret that the
// server fills with a token of this account, because the Secret is another way to get one.
package tokensecret

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"

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

var _ admission.ValidationInterface = &rule{}

// Validate rejects Secrets for the token of an account whose tokens the user may not request.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != corev1.Resource("secrets") || a.GetSubresource() != "" {
		return nil
	}
	secret, old, err := world.Objects[corev1.Secret](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	account := accountOf(secret)
	if account == "" || account == accountOf(old) {
		return nil
	}
	may, err := r.world.May(ctx, a.GetUserInfo(), "create", world.Target{
		Resource: "serviceaccounts", Subresource: "token", Namespace: a.GetNamespace(), Name: account,
	})
	if err != nil {
		return world.Answer(a, fmt.Errorf("%w: %w", world.ErrUnreadable, err))
	}
	if may {
		return nil
	}

	return r.world.Rejected(a, "TokenNotAllowed", world.Answer(a, fmt.Errorf(
		"a Secret of type %s gives the token of service account %q; only who may create serviceaccounts/token of it may make one, and %q may not",
		secret.Type, account, a.GetUserInfo().GetName())))
}

// accountOf returns the service account whose token a Secret is for, or an empty string.
func accountOf(secret *corev1.Secret) string {
	if secret == nil || secret.Type != corev1.SecretTypeServiceAccountToken {
		return ""
	}

	return secret.Annotations[corev1.ServiceAccountNameKey]
}
