// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// nameless checks an object without a good name, new and as an update of one with a name.
func nameless[T interface {
	metav1.Object
	DeepCopy() T
}](good T, create func(T) field.ErrorList, update func(now, old T) field.ErrorList) []field.ErrorList {
	bad := good.DeepCopy()
	bad.SetName("no name")
	return []field.ErrorList{create(good), create(bad), update(good, good), update(bad, good)}
}

func TestValidateMetadata(t *testing.T) {
	t.Parallel()
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: object("", "x")}
	installation.Spec.RegistrationRef.Name, installation.Spec.SeedRef = "x", &corev1.ObjectReference{Name: "local"}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: object("garden-meadow", "e"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("local")}}
	namespaced := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: object("garden-meadow", "p"), Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
		Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
	}}
	quota := &gardencorev1beta1.Quota{ObjectMeta: object("garden", "q"), Spec: gardencorev1beta1.QuotaSpec{
		Scope: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret"}, Metrics: corev1.ResourceList{"cpu": resource.MustParse("1")},
	}}
	plant := &gardencorev1beta1.Plant{ObjectMeta: object("garden-meadow", "weed"), Spec: gardencorev1beta1.PlantSpec{SecretRef: corev1.LocalObjectReference{Name: "key"}}}
	state := &gardencorev1beta1.ShootState{ObjectMeta: object("garden-meadow", "sprout")}
	internal := &gardencorev1beta1.InternalSecret{ObjectMeta: object("garden-meadow", "x"), Type: "Opaque"}
	class := &gardencorev1beta1.ExposureClass{ObjectMeta: object("", "internet"), Handler: "internet"}
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: object("", "x")}
	all := map[string][]field.ErrorList{
		"BackupBucket":           nameless(bucket(), validation.ValidateBackupBucket, validation.ValidateBackupBucketUpdate),
		"BackupEntry":            nameless(entry, validation.ValidateBackupEntry, validation.ValidateBackupEntryUpdate),
		"CloudProfile":           nameless(cloudProfile(), validation.ValidateCloudProfile, validation.ValidateCloudProfileUpdate),
		"ControllerInstallation": nameless(installation, validation.ValidateControllerInstallation, validation.ValidateControllerInstallationUpdate),
		"ControllerRegistration": nameless(registration, validation.ValidateControllerRegistration, validation.ValidateControllerRegistrationUpdate),
		"ExposureClass":          nameless(class, validation.ValidateExposureClass, validation.ValidateExposureClassUpdate),
		"InternalSecret":         nameless(internal, validation.ValidateInternalSecret, validation.ValidateInternalSecretUpdate),
		"NamespacedCloudProfile": nameless(namespaced, validation.ValidateNamespacedCloudProfile, validation.ValidateNamespacedCloudProfileUpdate),
		"Plant":                  nameless(plant, validation.ValidatePlant, validation.ValidatePlantUpdate),
		"Project":                nameless(project(), validation.ValidateProject, validation.ValidateProjectUpdate),
		"Quota":                  nameless(quota, validation.ValidateQuota, validation.ValidateQuotaUpdate),
		"SecretBinding":          nameless(binding(), validation.ValidateSecretBinding, validation.ValidateSecretBindingUpdate),
		"Seed":                   nameless(seed(), validation.ValidateSeed, validation.ValidateSeedUpdate),
		"Shoot":                  nameless(shoot(), validation.ValidateShoot, validation.ValidateShootUpdate),
		"Shoot binding": nameless(shoot(onSeed), validation.ValidateShoot, func(now, old *gardencorev1beta1.Shoot) field.ErrorList {
			old = old.DeepCopy()
			old.Spec.SeedName = nil
			return validation.ValidateShootBindingUpdate(now, old)
		}),
		"ShootState": nameless(state, validation.ValidateShootState, validation.ValidateShootStateUpdate),
	}
	wanted := make(map[string]expectation, len(all)*2)
	for kind, got := range all {
		// An InternalSecret is checked as a whole on each write.
		again := []string{"metadata.name: FieldValueInvalid"}
		if kind == "InternalSecret" {
			again = append(again, again...)
		}
		wanted["API-VAL "+kind] = expectation{reason: "a name is one", got: slices.Concat(got[0], got[1]), want: []string{"metadata.name: FieldValueInvalid"}}
		wanted["API-VAL update of "+kind] = expectation{reason: "a name does not change", got: slices.Concat(got[2], got[3]), want: again}
	}
	expect(t, wanted)
}

func TestValidateUpdatesAgain(t *testing.T) {
	t.Parallel()
	registration := func(all ...gardencorev1beta1.ControllerResource) *gardencorev1beta1.ControllerRegistration {
		r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: object("", "x")}
		r.Spec.Resources = all
		return r
	}
	installation := func(registration string, change func(*gardencorev1beta1.ControllerInstallation)) *gardencorev1beta1.ControllerInstallation {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: object("", "x")}
		i.Spec.RegistrationRef.Name, i.Spec.ShootRef = registration, &corev1.ObjectReference{Namespace: "garden", Name: "s"}
		change(i)
		return i
	}
	same := func(*gardencorev1beta1.ControllerInstallation) {}
	leaving := func(i *gardencorev1beta1.ControllerInstallation) { i.DeletionTimestamp = past() }
	expect(t, map[string]expectation{
		"API-VALBB-1 bucket": {
			reason: "a bucket stays complete, and with its shoot",
			got: validation.ValidateBackupBucketUpdate(bucket(func(b *gardencorev1beta1.BackupBucket) {
				b.Spec.CredentialsRef, b.Spec.ShootRef = nil, &corev1.ObjectReference{Namespace: "garden", Name: "s"}
			}), bucket()),
			want: []string{"spec.credentialsRef: FieldValueRequired", "spec.shootRef: FieldValueForbidden", "spec.shootRef: FieldValueInvalid"},
		},
		"API-VALBB-1 entry": {
			reason: "an entry stays in a bucket",
			got: validation.ValidateBackupEntryUpdate(&gardencorev1beta1.BackupEntry{ObjectMeta: object("a", "e"), Spec: gardencorev1beta1.BackupEntrySpec{SeedName: new("local")}},
				&gardencorev1beta1.BackupEntry{ObjectMeta: object("a", "e")}),
			want: []string{"spec.bucketName: FieldValueInvalid"},
		},
		"API-VALCP-1 type": {
			reason: "the provider of a profile stays",
			got:    validation.ValidateCloudProfileUpdate(cloudProfile(func(p *gardencorev1beta1.CloudProfile) { p.Spec.Type = "other" }), cloudProfile()),
			want:   []string{"spec.type: FieldValueInvalid"},
		},
		"API-VALCR-1 update": {
			reason: "a registration stays valid", got: validation.ValidateControllerRegistrationUpdate(registration(gardencorev1beta1.ControllerResource{Kind: "Toy", Type: "a"}), registration()),
			want: []string{"spec.resources[0].kind: FieldValueNotSupported"},
		},
		"API-VALCR-1 empty": {
			reason: "it names kinds and types", got: validation.ValidateControllerRegistration(registration(gardencorev1beta1.ControllerResource{})),
			want: []string{"spec.resources[0].kind: FieldValueNotSupported", "spec.resources[0].kind: FieldValueRequired", "spec.resources[0].type: FieldValueRequired"},
		},
		"API-VALCI-1 registration": {
			reason: "an installation stays one of its registration", got: validation.ValidateControllerInstallationUpdate(installation("y", same), installation("x", same)),
			want: []string{"spec.registrationRef.name: FieldValueInvalid"},
		},
		"API-VALCI-1 namespace": {
			reason: "and on its shoot, which is named",
			got: validation.ValidateControllerInstallationUpdate(installation("x", func(i *gardencorev1beta1.ControllerInstallation) {
				i.Spec.ShootRef = &corev1.ObjectReference{Namespace: "elsewhere"}
			}), installation("x", func(i *gardencorev1beta1.ControllerInstallation) { i.Spec.ShootRef.Name = "" })),
			want: []string{"spec.shootRef.name: FieldValueRequired", "spec.shootRef.namespace: FieldValueInvalid"},
		},
		"API-VALCI-1 leaving": {
			reason: "one that goes away does not change",
			got: validation.ValidateControllerInstallationUpdate(installation("x", func(i *gardencorev1beta1.ControllerInstallation) {
				leaving(i)
				i.Spec.DeploymentRef = &corev1.ObjectReference{Name: "d"}
			}), installation("x", leaving)),
			want: []string{"spec: FieldValueForbidden"},
		},
		"API-NAME-6": {
			reason: "the handler of a class stays valid",
			got: validation.ValidateExposureClassUpdate(&gardencorev1beta1.ExposureClass{ObjectMeta: object("", "a"), Handler: "a b"},
				&gardencorev1beta1.ExposureClass{ObjectMeta: object("", "a"), Handler: "a b"}),
			want: []string{"handler: FieldValueInvalid"},
		},
		"API-VALIS-1 update": {
			reason: "a secret stays valid",
			got: validation.ValidateInternalSecretUpdate(&gardencorev1beta1.InternalSecret{ObjectMeta: object("a", "a"), Data: map[string][]byte{"a b": nil}},
				&gardencorev1beta1.InternalSecret{ObjectMeta: object("a", "a")}),
			want: []string{"data[a b]: FieldValueInvalid"},
		},
		"API-NCPV-1 update": {
			reason: "a profile of a project stays valid",
			got:    validation.ValidateNamespacedCloudProfileUpdate(&gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: object("a", "a")}, &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: object("a", "a")}),
			want:   []string{"spec.parent.kind: FieldValueNotSupported", "spec.parent.name: FieldValueRequired"},
		},
		"API-VALPROJ-3 creator": {
			reason: "who created a project did",
			got: validation.ValidateProjectUpdate(project(), project(func(p *gardencorev1beta1.Project) {
				p.Spec.CreatedBy, p.Spec.Description = userNamed("rose"), new("a")
			})),
			want: []string{"spec.createdBy: FieldValueInvalid"},
		},
		"API-VALQ-1 update": {
			reason: "a quota stays valid",
			got:    validation.ValidateQuotaUpdate(&gardencorev1beta1.Quota{ObjectMeta: object("a", "a")}, &gardencorev1beta1.Quota{ObjectMeta: object("a", "a")}),
			want:   []string{"spec.scope: FieldValueNotSupported"},
		},
		"API-VALSB-1 update": {
			reason: "a binding stays complete",
			got:    validation.ValidateSecretBindingUpdate(&gardencorev1beta1.SecretBinding{ObjectMeta: object("a", "a")}, &gardencorev1beta1.SecretBinding{ObjectMeta: object("a", "a")}),
			want:   []string{"secretRef.name: FieldValueRequired", "secretRef.namespace: FieldValueRequired"},
		},
		"API-VALSEED-2 services": {
			reason: "the range of Services stays",
			got:    validation.ValidateSeedUpdate(seed(func(s *gardencorev1beta1.Seed) { s.Spec.Networks.Services = "10.90.0.0/16" }), seed()),
			want:   []string{"spec.networks.services: FieldValueInvalid"},
		},
	})
}
