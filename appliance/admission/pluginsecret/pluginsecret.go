// SPDX-License-Identifier: Apache-2.0

// Package pluginsecret rejects the removal of a kubeconfig from a Secret that the API server of a shoot needs for an
// admission plugin or an authorizer (GAC-PLUGSEC-1).
package pluginsecret

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const key = "kubeconfig"

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects the removal of a kubeconfig that a shoot refers to.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != corev1.Resource("secrets") || a.GetSubresource() != "" {
		return nil
	}
	secret, _, err := world.Objects[corev1.Secret](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	if len(secret.Data[key]) > 0 || secret.DeletionTimestamp != nil {
		return nil
	}
	of, err := r.world.Cached().OfProject(ctx, a.GetNamespace())
	if err != nil || !of {
		return world.Answer(a, err)
	}
	users, err := users(ctx, r.world.Fresh(), secret)
	if err != nil {
		return world.Answer(a, err)
	}
	if len(users) == 0 {
		return nil
	}
	return r.world.Rejected(a, "KubeconfigNeeded", world.Answer(a, fmt.Errorf(
		"data[%s] must be a kubeconfig, because these shoots refer to it: %s", key, strings.Join(users, ", "))))
}

// users returns the names of the shoots that need the kubeconfig of a Secret.
func users(ctx context.Context, v world.View, secret *corev1.Secret) ([]string, error) {
	shoots, err := v.Shoots(ctx, secret.Namespace, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list shoots in namespace %q: %w", secret.Namespace, err)
	}
	var names []string
	for i := range shoots {
		if needs(&shoots[i], secret.Name) {
			names = append(names, shoots[i].Name)
		}
	}
	return names, nil
}

func needs(s *gardencorev1beta1.Shoot, secret string) bool {
	server := s.Spec.Kubernetes.KubeAPIServer
	if server == nil {
		return false
	}
	for _, p := range server.AdmissionPlugins {
		if p.KubeconfigSecretName != nil && *p.KubeconfigSecretName == secret {
			return true
		}
	}
	if server.StructuredAuthorization == nil {
		return false
	}
	for _, k := range server.StructuredAuthorization.Kubeconfigs {
		if k.SecretName == secret {
			return true
		}
	}
	return false
}
