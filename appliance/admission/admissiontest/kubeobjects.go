// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ProjectNamespace is the namespace of Project.
func ProjectNamespace(change ...func(*corev1.Namespace)) *corev1.Namespace {
	return made(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   Namespace,
		Labels: map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleProject, gardencorev1beta1.LabelProjectName: "meadow"},
	}}, change)
}

// Secret returns a Secret in the namespace of Project.
func Secret(name string, change ...func(*corev1.Secret)) *corev1.Secret {
	return made(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}, change)
}

// ConfigMap returns a ConfigMap with one key in the namespace of Project.
func ConfigMap(name, key, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}, Data: map[string]string{key: value}}
}
