// SPDX-License-Identifier: Apache-2.0

// Package kubeconfigsecret rejects kubeconfigs in projects that would make the server that uses them read files, run
// programs or impersonate users (GAC-KCFG-1 to 4).
package kubeconfigsecret

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
)

// reason is the reason of all rejections in the metrics.
const reason = "RejectedKubeconfig"

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate checks the kubeconfig in a Secret, if there is one.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != corev1.Resource("secrets") || a.GetSubresource() != "" {
		return nil
	}
	of, err := r.world.Cached().OfProject(ctx, a.GetNamespace())
	if err != nil || !of {
		return world.Answer(a, err)
	}
	secret, old, err := world.Objects[corev1.Secret](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	raw, found := secret.Data[kubeconfig.Key]
	if !found || old != nil && kept(old, raw) {
		return nil
	}
	config, err := clientcmd.Load(raw)
	if err != nil {
		return r.world.Rejected(a, reason, apierrors.NewBadRequest(fmt.Sprintf("data[%s] is not a kubeconfig: %v", kubeconfig.Key, err)))
	}
	if errs := check(config.AuthInfos); len(errs) > 0 {
		return r.world.Rejected(a, reason, apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), errs))
	}
	return nil
}

// kept reports whether a Secret had the same kubeconfig before. One that was accepted by an earlier release must not keep the garden from
// removing its finalizers, and so its project from being deleted; whoever uses a kubeconfig checks it once more.
func kept(old *corev1.Secret, raw []byte) bool {
	had, found := old.Data[kubeconfig.Key]
	return found && bytes.Equal(had, raw)
}

func check(users map[string]*clientcmdapi.AuthInfo) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(users)) {
		path := field.NewPath("data").Key(kubeconfig.Key).Child("users").Key(name)
		for _, wrong := range kubeconfig.UnsafeUser(users[name]) {
			errs = append(errs, field.Forbidden(path.Child(wrong), kubeconfig.Valid))
		}
	}
	return errs
}
