// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// Keys of ConfigMaps that a shoot refers to.
const (
	keyAuditPolicy  = "policy"
	keyServerConfig = "config.yaml"
)

// loadHanded reads what the owner hands in for the API server. An operation does not begin with what is missing or cannot be used, because
// the API server would not start with it. A deletion does, without all of it: it must not need the owner's help.
func (o *operation) loadHanded(ctx context.Context) error {
	h := handed{reader: o.r.GardenReader, namespace: o.facts.Shoot.Namespace}
	known := o.facts
	var err error
	if known.Handed, err = h.read(ctx, o.facts.Shoot.Spec.Kubernetes.KubeAPIServer); err == nil {
		err = apiserver.Unusable(known)
	}
	if err != nil && o.facts.Deleting() && (len(lastoperation.Codes(err)) > 0 || apierrors.IsForbidden(err)) {
		ctrl.LoggerFrom(ctx).Info("The API server is deployed for the deletion without what its owner has configured", "reason", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	o.facts.Handed = known.Handed
	return nil
}

// handed reads the ConfigMaps and Secrets of a project that a shoot names for its API server.
type handed struct {
	reader    client.Reader
	namespace string
}

func (h handed) read(ctx context.Context, s *gardencorev1beta1.KubeAPIServerConfig) (facts.Handed, error) {
	all := facts.Handed{Authorizers: map[string][]byte{}, Plugins: map[string][]byte{}}
	if s == nil {
		return all, nil
	}
	var err error
	// The namespace of a reference does not count: a shoot reads its own project only.
	if c := s.AuditConfig; c != nil && c.AuditPolicy != nil && c.AuditPolicy.ConfigMapRef != nil {
		if all.AuditPolicy, err = h.text(ctx, "auditConfig.auditPolicy.configMapRef", c.AuditPolicy.ConfigMapRef.Name, keyAuditPolicy); err != nil {
			return all, err
		}
	}
	if c := s.StructuredAuthentication; c != nil {
		if all.Authentication, err = h.text(ctx, "structuredAuthentication.configMapName", c.ConfigMapName, keyServerConfig); err != nil {
			return all, err
		}
	}
	if c := s.StructuredAuthorization; c != nil {
		if all.Authorization, err = h.text(ctx, "structuredAuthorization.configMapName", c.ConfigMapName, keyServerConfig); err != nil {
			return all, err
		}
		for i, k := range c.Kubeconfigs {
			field := fmt.Sprintf("structuredAuthorization.kubeconfigs[%d].secretName", i)
			if all.Authorizers[k.AuthorizerName], err = h.kubeconfig(ctx, field, k.SecretName); err != nil {
				return all, err
			}
		}
	}
	for i, p := range s.AdmissionPlugins {
		if p.KubeconfigSecretName == nil || ptr.Deref(p.Disabled, false) {
			continue
		}
		field := fmt.Sprintf("admissionPlugins[%d].kubeconfigSecretName", i)
		if all.Plugins[p.Name], err = h.kubeconfig(ctx, field, *p.KubeconfigSecretName); err != nil {
			return all, err
		}
	}
	return all, nil
}

// text is what a ConfigMap has under a key.
func (h handed) text(ctx context.Context, field, name, key string) (string, error) {
	source := &corev1.ConfigMap{}
	if err := h.get(ctx, field, "ConfigMap", name, source); err != nil {
		return "", err
	}
	if source.Data[key] == "" {
		return "", apiserver.ConfigurationProblem(field, "ConfigMap %q of the project has nothing under the key %q; put the configuration there", name, key)
	}
	return source.Data[key], nil
}

// kubeconfig is the kubeconfig in a Secret.
func (h handed) kubeconfig(ctx context.Context, field, name string) ([]byte, error) {
	source := &corev1.Secret{}
	if err := h.get(ctx, field, referred.KindSecret, name, source); err != nil {
		return nil, err
	}
	if len(source.Data[kubeconfig.Key]) == 0 {
		return nil, apiserver.ConfigurationProblem(field, "Secret %q of the project has nothing under the key %q; put the kubeconfig there", name, kubeconfig.Key)
	}
	return source.Data[kubeconfig.Key], nil
}

func (h handed) get(ctx context.Context, field, kind, name string, into client.Object) error {
	err := h.reader.Get(ctx, client.ObjectKey{Namespace: h.namespace, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return apiserver.ConfigurationProblem(field, "the project has no %s %q; create it, or remove the reference", kind, name)
	}
	if err != nil {
		return fmt.Errorf("read %s %q for the API server: %w", kind, name, err)
	}
	return nil
}
