// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	configName        = "kube-apiserver-config"
	auditKey          = "audit-policy.yaml"
	authenticationKey = "authentication-config.yaml"
	authorizationKey  = "authorization-config.yaml"
	admissionKey      = "admission-configuration.yaml"
)

// auditPolicy is the policy of the owner. Without one, nothing is recorded.
func auditPolicy(f facts.Shoot) (map[string]any, error) {
	const group, kind = "audit.k8s.io", "Policy"
	if f.Handed.AuditPolicy != "" {
		return document("auditConfig.auditPolicy.configMapRef", f.Handed.AuditPolicy, group, kind)
	}
	return map[string]any{
		"apiVersion": group + "/v1",
		"kind":       kind,
		"rules":      []any{map[string]string{"level": "None"}},
	}, nil
}

// contents are those of the configuration files that are no secrets.
func contents(f facts.Shoot) (map[string]any, error) {
	audit, err := auditPolicy(f)
	if err != nil {
		return nil, err
	}
	authentication, err := authenticationConfiguration(f)
	if err != nil {
		return nil, err
	}
	authorization, err := authorizationConfiguration(f)
	if err != nil {
		return nil, err
	}
	admission, err := admissionConfiguration(f)
	if err != nil {
		return nil, err
	}
	files := map[string]any{auditKey: audit, authenticationKey: authentication, admissionKey: admission, egressKey: egressConfiguration()}
	if authorization != nil {
		files[authorizationKey] = authorization
	}
	return files, nil
}

// configKeys are the keys of these files, in the order in which they are mounted.
func configKeys(f facts.Shoot) []string {
	keys := []string{admissionKey, auditKey, authenticationKey}
	if f.Handed.Authorization != "" {
		keys = append(keys, authorizationKey)
	}
	return append(keys, egressKey)
}

// configuration returns the objects with the server's configuration files, and the annotation with a checksum of all of them.
func configuration(f facts.Shoot, in *component.Inputs) ([]client.Object, map[string]string, error) {
	encryption, err := encryptionConfiguration(f, in)
	if err != nil {
		return nil, nil, err
	}
	all, err := contents(f)
	if err != nil {
		return nil, nil, err
	}
	encrypted, err := component.YAML(encryption)
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{}
	for key, content := range all {
		if files[key], err = component.YAML(content); err != nil {
			return nil, nil, err
		}
	}
	texts := []string{encrypted, files[authenticationKey], files[auditKey], files[admissionKey], files[egressKey]}
	objs := []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: configName}, Data: files},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: EncryptionSecret},
			Type:       corev1.SecretTypeOpaque,
			Data:       map[string][]byte{encryptionKey: []byte(encrypted)},
		},
	}
	handed, err := kubeconfigSecret(f)
	if err != nil {
		return nil, nil, err
	}
	if handed != nil {
		objs = append(objs, handed)
		for _, key := range slices.Sorted(maps.Keys(handed.Data)) {
			texts = append(texts, key, string(handed.Data[key]))
		}
	}
	if f.Handed.Authorization != "" {
		texts = append(texts, files[authorizationKey])
	}
	return objs, component.Checksum("configuration", texts...), nil
}
