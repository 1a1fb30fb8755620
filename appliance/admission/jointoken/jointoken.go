// SPDX-License-Identifier: Apache-2.0

// Package jointoken limits the lifetime of all join tokens, and keeps clients from changing the annotations about their use.
package jointoken

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/apis/jointoken"
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

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit restores the annotations about the use of a token to those that the server has written. They are removed if the
// secret of the token changes, because that makes it another token.
func (*rule) Admit(_ context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" || a.GetUserInfo().GetName() == user.APIServerUser || !marked(a) {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return world.Answer(a, fmt.Errorf("%w: %w", world.ErrUnreadable, err))
	}
	before, err := use(a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	jointoken.Mark(object, before)

	return nil
}

// marked reports whether the object of a request can have the annotations.
func marked(a admission.Attributes) bool {
	name := a.GetName()
	if object, err := meta.Accessor(a.GetObject()); err == nil && name == "" {
		name = object.GetGenerateName() // The rest of the name is not generated yet.
	}
	switch a.GetResource().GroupResource() {
	case corev1.Resource("secrets"):
		return a.GetNamespace() == jointoken.Namespace && strings.HasPrefix(name, jointoken.SecretPrefix)
	case corev1.Resource("serviceaccounts"):
		return strings.HasPrefix(name, jointoken.AccountPrefix)
	default:
		return false
	}
}

// use returns the use that the object of a request has to record.
func use(a admission.Attributes, o admission.ObjectInterfaces) (*jointoken.Use, error) {
	if a.GetOldObject() == nil {
		return nil, nil //nolint:nilnil // a new token has not been used
	}
	if a.GetResource().GroupResource() == corev1.Resource("secrets") {
		secret, old, err := world.Objects[corev1.Secret](a, o)
		if err != nil {
			return nil, err
		}
		if jointoken.Value(secret, jointoken.KeySecret) != jointoken.Value(old, jointoken.KeySecret) {
			return nil, nil //nolint:nilnil // this is another token
		}
	}
	old, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", world.ErrUnreadable, err)
	}

	return jointoken.UseOf(old), nil
}

// Validate rejects tokens that are valid for too long. An unchanged lifetime is not checked, so that tokens from before this
// rule can be updated; they cannot be used.
func (r *rule) Validate(_ context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" || a.GetResource().GroupResource() != corev1.Resource("secrets") || a.GetNamespace() != jointoken.Namespace {
		return nil
	}
	secret, old, err := world.Objects[corev1.Secret](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	if secret.Type != jointoken.SecretType || old != nil && same(secret, old) {
		return nil
	}
	if err := jointoken.Validate(secret, r.world.Clock.Now()); err != nil {
		return r.world.Rejected(a, "JoinTokenInvalid", world.Answer(a, err))
	}

	return nil
}

// same reports whether two versions of a Secret are the same token.
func same(a, b *corev1.Secret) bool {
	for _, key := range []string{
		jointoken.KeySecret, jointoken.KeyExpiration, jointoken.KeySeed, jointoken.KeyRenew, jointoken.KeyDescription,
	} {
		if jointoken.Value(a, key) != jointoken.Value(b, key) {
			return false
		}
	}

	return true
}
