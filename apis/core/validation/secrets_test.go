// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateInternalSecretRules(t *testing.T) {
	t.Parallel()
	made := func(typ corev1.SecretType, data map[string][]byte, immutable *bool) *gardencorev1beta1.InternalSecret {
		return &gardencorev1beta1.InternalSecret{
			ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "y", ResourceVersion: "1"}, Type: typ, Data: data, Immutable: immutable,
		}
	}
	key := func(value string) map[string][]byte { return map[string][]byte{"a": []byte(value)} }
	if diff := cmp.Diff([]string{"data: FieldValueTooLong"}, checktest.Complaints(validation.ValidateInternalSecret(made("Opaque", map[string][]byte{"a": make([]byte, 1<<20+1)}, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: a secret has a size\nValidateInternalSecret(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data[.dockerconfigjson]: FieldValueInvalid"}, checktest.Complaints(validation.ValidateInternalSecret(made(corev1.SecretTypeDockerConfigJson, map[string][]byte{".dockerconfigjson": []byte("x")}, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: Docker reads JSON\nValidateInternalSecret(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data[username]: FieldValueRequired"}, checktest.Complaints(validation.ValidateInternalSecret(made(corev1.SecretTypeBasicAuth, nil, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: who logs in says who it is\nValidateInternalSecret(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"type: FieldValueInvalid"}, checktest.Complaints(validation.ValidateInternalSecretUpdate(made("other", nil, nil), made("Opaque", nil, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: the type stays\nValidateInternalSecretUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data: FieldValueInvalid", "immutable: FieldValueInvalid"}, checktest.Complaints(validation.ValidateInternalSecretUpdate(made("Opaque", key("b"), nil), made("Opaque", key("a"), new(true))))); diff != "" {
		t.Errorf("API-VALIS-1: what is immutable stays\nValidateInternalSecretUpdate(...) (-want +got):\n%s", diff)
	}
}

func TestValidateSecretBindingRules(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"provider: FieldValueRequired"}, checktest.Complaints(validation.ValidateSecretBinding(binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider = nil })))); diff != "" {
		t.Errorf("API-VALSB-1: a new binding says whom it is for\nValidateSecretBinding(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"quotas: FieldValueInvalid"}, checktest.Complaints(validation.ValidateSecretBindingUpdate(binding(func(b *gardencorev1beta1.SecretBinding) {
		b.Quotas = []corev1.ObjectReference{{Name: "q"}}
	}), binding()))); diff != "" {
		t.Errorf("API-VALSB-1: quotas stay\nValidateSecretBindingUpdate(...) (-want +got):\n%s", diff)
	}
}
