// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	configName        = "kube-apiserver-config"
	auditKey          = "audit-policy.yaml"
	authenticationKey = "authentication-config.yaml"
	admissionKey      = "admission-configuration.yaml"
)

// authenticationConfiguration allows anonymous requests for the health of the server, and for nothing else.
func authenticationConfiguration() map[string]any {
	return map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "AuthenticationConfiguration",
		"anonymous": map[string]any{
			"enabled":    true,
			"conditions": []any{map[string]string{"path": "/healthz"}, map[string]string{"path": "/livez"}, map[string]string{"path": "/readyz"}},
		},
	}
}

// auditPolicy records nothing: the owner of a shoot decides what is worth keeping.
func auditPolicy() map[string]any {
	return map[string]any{
		"apiVersion": "audit.k8s.io/v1",
		"kind":       "Policy",
		"rules":      []any{map[string]string{"level": "None"}},
	}
}

// admissionConfiguration carries the owner's configuration of admission plugins.
func admissionConfiguration(settings *gardencorev1beta1.KubeAPIServerConfig) map[string]any {
	plugins := []any{}
	for _, p := range settings.AdmissionPlugins {
		if p.Config != nil && !ptr.Deref(p.Disabled, false) {
			plugins = append(plugins, map[string]any{"name": p.Name, "configuration": p.Config})
		}
	}
	return map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "AdmissionConfiguration",
		"plugins":    plugins,
	}
}

// configuration returns the objects with the server's configuration files, and the annotation with a checksum of all of them.
func configuration(f facts.Shoot, in *component.Inputs) ([]client.Object, map[string]string, error) {
	encryption, err := encryptionConfiguration(f, in)
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{}
	contents := map[string]any{
		encryptionKey: encryption, authenticationKey: authenticationConfiguration(), auditKey: auditPolicy(), admissionKey: admissionConfiguration(settingsOf(f)),
	}
	if f.Workers() {
		contents[egressKey] = egressConfiguration()
	}
	for key, content := range contents {
		if files[key], err = component.YAML(content); err != nil {
			return nil, nil, err
		}
	}
	sum := component.Checksum("configuration", files[encryptionKey], files[authenticationKey], files[auditKey], files[admissionKey], files[egressKey])
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: EncryptionSecret},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{encryptionKey: []byte(files[encryptionKey])},
	}
	delete(files, encryptionKey)
	return []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: configName}, Data: files}, secret}, sum, nil
}
