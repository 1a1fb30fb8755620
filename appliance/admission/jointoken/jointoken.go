// SPDX-License-Identifier: Apache-2.0

// Package jointoken holds the lifetimes of join tokens, whoever makes them and however, and keeps the mark of their use
// from being written by anybody but the server.
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

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit keeps the mark of a used token as the server has written it. It goes when the token gets another secret half:
// that makes another token of it.
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

// marked reports whether a request is about an object that can carry a mark.
func marked(a admission.Attributes) bool {
	name := a.GetName()
	if object, err := meta.Accessor(a.GetObject()); err == nil && name == "" {
		name = object.GetGenerateName() // The rest of the name is not known yet.
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

// use is the mark that the object of a request has to carry.
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

// Validate refuses tokens that are valid for too long. What is left as it was is not looked at: a token from before this
// rule can be changed, but is good for nothing.
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

// same reports whether two states of a Secret are the same token.
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
