// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateBackupEntryKeeper(t *testing.T) {
	t.Parallel()
	entry := func(spec gardencorev1beta1.BackupEntrySpec) *gardencorev1beta1.BackupEntry {
		return &gardencorev1beta1.BackupEntry{ObjectMeta: object("garden-meadow", "e"), Spec: spec}
	}
	expect(t, map[string]expectation{
		"API-VALBB-1 nobody": {
			reason: "somebody looks after an entry", got: validation.ValidateBackupEntry(entry(gardencorev1beta1.BackupEntrySpec{BucketName: "b"})),
			want: []string{"spec.seedName: FieldValueRequired"},
		},
		"API-VALBB-1 shoot": {
			reason: "a self-hosted shoot can do without a seed",
			got: validation.ValidateBackupEntry(entry(gardencorev1beta1.BackupEntrySpec{
				BucketName: "b", ShootRef: &corev1.ObjectReference{Namespace: "garden", Name: "root"},
			})),
		},
	})
}

func TestValidateControllerRegistrationRules(t *testing.T) {
	t.Parallel()
	type (
		object   = gardencorev1beta1.ControllerRegistration
		resource = gardencorev1beta1.ControllerResource
		cluster  = gardencorev1beta1.ClusterType
	)
	registration := func(all ...resource) *object {
		r := &object{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1"}}
		r.Spec.Resources = all
		return r
	}
	selecting := func(r *object) *object {
		r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{SeedSelector: &metav1.LabelSelector{}}
		return r
	}
	leaving := func(r *object) *object {
		r.DeletionTimestamp = past()
		return r
	}
	mixed := []resource{{Kind: "Extension", Type: "a", Primary: new(false)}, {Kind: "Extension", Type: "b"}, {Kind: "Worker", Type: "b", Primary: new(false)}}
	expect(t, map[string]expectation{
		"API-VALCR-1 leaving": {
			reason: "what goes away is not checked again", got: validation.ValidateControllerRegistrationUpdate(leaving(registration(resource{Kind: "Toy", Type: "a"})), leaving(registration(resource{Kind: "Toy", Type: "a"}))),
		},
		"API-VALCR-1 primary": {
			reason: "each kind and type has its own controller in charge", got: validation.ValidateControllerRegistrationUpdate(registration(mixed...), registration(mixed...)),
		},
		"API-VALCR-1 enabled": {
			reason: "an extension can be on for clusters that it supports, and for all if it names none",
			got: validation.ValidateControllerRegistration(registration(
				resource{Kind: "Extension", Type: "a", AutoEnable: []cluster{"shoot"}},
				resource{Kind: "Extension", Type: "b", AutoEnable: []cluster{"seed"}, ClusterCompatibility: []cluster{"shoot", "seed"}},
			)),
		},
		"API-VALCR-1 selector": {
			reason: "a selector of seeds is for controllers that are not in charge",
			got:    validation.ValidateControllerRegistration(selecting(registration(resource{Kind: "Worker", Type: "a", Primary: new(false)}))),
		},
	})
}

func TestValidateOCIRepository(t *testing.T) {
	t.Parallel()
	expect(t, map[string]expectation{
		"API-VALCD-1 version only": {
			reason: "an artifact has a name", got: validation.ValidateOCIRepository(&gardencorev1.OCIRepository{Tag: new("b")}, nil), want: []string{"<nil>: FieldValueRequired"},
		},
		"API-VALCD-1 two names": {
			reason: "and is named in one way",
			got: validation.ValidateOCIRepository(&gardencorev1.OCIRepository{
				Ref: new("r/a:b"), Repository: new("r/a"), Tag: new("b"), Digest: new("sha256:c"),
			}, nil),
			want: []string{"digest: FieldValueForbidden", "repository: FieldValueForbidden", "tag: FieldValueForbidden"},
		},
	})
}

func TestValidateQuotaReferences(t *testing.T) {
	t.Parallel()
	quotas := func(all ...corev1.ObjectReference) func(*gardencorev1beta1.SecretBinding) {
		return func(b *gardencorev1beta1.SecretBinding) { b.Quotas = all }
	}
	expect(t, map[string]expectation{
		"API-VALSB-1 plain": {reason: "a plain binding passes", got: validation.ValidateSecretBinding(binding())},
		"API-VALSB-1 provider": {
			reason: "a provider has a type", got: validation.ValidateSecretBinding(binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider.Type = "" })),
			want: []string{"provider.type: FieldValueRequired"},
		},
		"API-VALSB-1 former": {
			reason: "a binding of former times has no provider",
			got: validation.ValidateSecretBindingUpdate(binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider = nil }),
				binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider = nil })),
		},
		"API-VALSB-1 quotas": {
			reason: "a quota is named, and may be elsewhere", got: validation.ValidateSecretBinding(binding(quotas(
				corev1.ObjectReference{Name: "a"}, corev1.ObjectReference{Name: "a", Namespace: "garden"},
				corev1.ObjectReference{}, corev1.ObjectReference{Name: "a b"}, corev1.ObjectReference{Name: "a", Namespace: "a b"},
			))),
			want: []string{"quotas[2].name: FieldValueRequired", "quotas[3].name: FieldValueInvalid", "quotas[4].namespace: FieldValueInvalid"},
		},
	})
}

func TestValidateQuotaForms(t *testing.T) {
	t.Parallel()
	quota := func(version string) *gardencorev1beta1.Quota {
		return &gardencorev1beta1.Quota{ObjectMeta: object("garden", "trial"), Spec: gardencorev1beta1.QuotaSpec{
			Scope: corev1.ObjectReference{APIVersion: version, Kind: "Secret"}, Metrics: corev1.ResourceList{"cpu": resource.MustParse("1")},
		}}
	}
	expect(t, map[string]expectation{
		"API-VALQ-1 unlimited": {reason: "clusters may live for ever", got: validation.ValidateQuota(quota("v1"))},
		"API-VALQ-1 version":   {reason: "Secrets have one version", got: validation.ValidateQuota(quota("v2")), want: []string{"spec.scope: FieldValueNotSupported"}},
	})
}

func TestValidateShootStateResources(t *testing.T) {
	t.Parallel()
	held := func(name string) gardencorev1beta1.NamedResourceReference {
		return gardencorev1beta1.NamedResourceReference{Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "a"}}
	}
	state := func(all ...gardencorev1beta1.NamedResourceReference) *gardencorev1beta1.ShootState {
		return &gardencorev1beta1.ShootState{ObjectMeta: object("garden-meadow", "sprout"), Spec: gardencorev1beta1.ShootStateSpec{
			Extensions: []gardencorev1beta1.ExtensionResourceState{{Kind: "Worker", Resources: all}},
		}}
	}
	const at = "spec.extensions[0].resources"
	expect(t, map[string]expectation{
		"API-VALSS-1 resources": {reason: "a state refers to objects", got: validation.ValidateShootState(state(held("a"), held("b")))},
		"API-VALSS-1 names": {
			reason: "each under its own name", got: validation.ValidateShootState(state(held("a"), held("a"), held(""), held(""))),
			want: []string{at + "[1].name: FieldValueDuplicate", at + "[2].name: FieldValueRequired", at + "[3].name: FieldValueRequired"},
		},
	})
}

func TestValidateInternalSecretTypes(t *testing.T) {
	t.Parallel()
	made := func(typ corev1.SecretType, key, value string) *gardencorev1beta1.InternalSecret {
		s := &gardencorev1beta1.InternalSecret{ObjectMeta: object("garden-meadow", "x"), Type: typ}
		if key != "" {
			s.Data = map[string][]byte{key: []byte(value)}
		}
		return s
	}
	sealed := func(s *gardencorev1beta1.InternalSecret, immutable bool) *gardencorev1beta1.InternalSecret {
		s.Immutable = &immutable
		return s
	}
	expect(t, map[string]expectation{
		"API-VALIS-1 docker":  {reason: "Docker reads JSON", got: validation.ValidateInternalSecret(made(corev1.SecretTypeDockerConfigJson, ".dockerconfigjson", "{}"))},
		"API-VALIS-1 missing": {reason: "what is missing is not broken too", got: validation.ValidateInternalSecret(made(corev1.SecretTypeDockerConfigJson, "", "")), want: []string{"data[.dockerconfigjson]: FieldValueRequired"}},
		"API-VALIS-1 opaque":  {reason: "other types hold what they like", got: validation.ValidateInternalSecret(made(corev1.SecretTypeOpaque, ".dockerconfigjson", "x"))},
		"API-VALIS-1 user":    {reason: "a user name is enough", got: validation.ValidateInternalSecret(made(corev1.SecretTypeBasicAuth, "username", "rose"))},
		"API-VALIS-1 pass":    {reason: "so is a password", got: validation.ValidateInternalSecret(made(corev1.SecretTypeBasicAuth, "password", "thorn"))},
		"API-VALIS-1 mutable": {
			reason: "data changes unless it is declared immutable",
			got:    validation.ValidateInternalSecretUpdate(made("Opaque", "a", "b"), sealed(made("Opaque", "a", "c"), false)),
		},
	})
}

func TestValidatePlantAddresses(t *testing.T) {
	t.Parallel()
	expect(t, map[string]expectation{
		"unreadable": {
			reason: "an address can be read",
			got: validation.ValidatePlant(&gardencorev1beta1.Plant{ObjectMeta: object("garden-meadow", "weed"), Spec: gardencorev1beta1.PlantSpec{
				SecretRef: corev1.LocalObjectReference{Name: "key"}, Endpoints: []gardencorev1beta1.Endpoint{{Name: "ui", URL: "https://[::1", Purpose: "ui"}},
			}}),
			want: []string{"spec.endpoints[0].url: FieldValueInvalid"},
		},
	})
}
