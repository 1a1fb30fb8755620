// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
)

const (
	configName        = "kube-apiserver-config"
	auditKey          = "audit-policy.yaml"
	authenticationKey = "authentication-config.yaml"
	admissionKey      = "admission-configuration.yaml"
)

// authenticationConfiguration lets nobody in without a name, except those who ask whether the server is well.
func authenticationConfiguration() (string, error) {
	return component.YAML(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "AuthenticationConfiguration",
		"anonymous": map[string]any{
			"enabled":    true,
			"conditions": []any{map[string]string{"path": "/healthz"}, map[string]string{"path": "/livez"}, map[string]string{"path": "/readyz"}},
		},
	})
}

// auditPolicy records nothing: the owner of a shoot decides what is worth keeping.
func auditPolicy() (string, error) {
	return component.YAML(map[string]any{
		"apiVersion": "audit.k8s.io/v1",
		"kind":       "Policy",
		"rules":      []any{map[string]string{"level": "None"}},
	})
}

// admissionConfiguration carries the owner's configuration of admission plugins.
func admissionConfiguration(settings *gardencorev1beta1.KubeAPIServerConfig) (string, error) {
	plugins := []any{}
	if settings != nil {
		for _, p := range settings.AdmissionPlugins {
			if p.Config != nil && !disabled(p) {
				plugins = append(plugins, map[string]any{"name": p.Name, "configuration": p.Config})
			}
		}
	}
	return component.YAML(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "AdmissionConfiguration",
		"plugins":    plugins,
	})
}

func disabled(p gardencorev1beta1.AdmissionPlugin) bool {
	return p.Disabled != nil && *p.Disabled
}

// configuration returns the objects with the server's configuration files and a checksum of all of them.
func configuration(v Values) (*corev1.ConfigMap, *corev1.Secret, string, error) { //nolint:revive // two objects and their checksum belong together
	encryption, err := encryptionConfiguration(v.Encryption)
	if err != nil {
		return nil, nil, "", err
	}
	authentication, err := authenticationConfiguration()
	if err != nil {
		return nil, nil, "", err
	}
	audit, err := auditPolicy()
	if err != nil {
		return nil, nil, "", err
	}
	admission, err := admissionConfiguration(v.Settings)
	if err != nil {
		return nil, nil, "", err
	}
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: configName},
		Data:       map[string]string{auditKey: audit, authenticationKey: authentication, admissionKey: admission},
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: EncryptionSecret},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{encryptionKey: []byte(encryption)},
	}
	return config, secret, component.Checksum(encryption, authentication, audit, admission), nil
}
