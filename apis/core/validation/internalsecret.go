// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateInternalSecret checks a new InternalSecret (API-VALIS-1).
func ValidateInternalSecret(s *gardencorev1beta1.InternalSecret) field.ErrorList {
	errs := metadata(s, true, apivalidation.NameIsDNSSubdomain)
	path := field.NewPath("data")
	size := 0
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		value := s.Data[key]
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, message))
		}
		size += len(value)
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(path, "", corev1.MaxSecretSize))
	}
	return append(errs, typeKeys(s, path)...)
}

// typeKeys rejects a secret without a key that its type requires.
func typeKeys(s *gardencorev1beta1.InternalSecret, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	demands := map[corev1.SecretType][]string{
		corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
		corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
		corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
		corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	}
	for _, key := range demands[s.Type] {
		if _, ok := s.Data[key]; !ok {
			errs = append(errs, field.Required(path.Key(key), fmt.Sprintf("is required in a secret of type %q", s.Type)))
		}
	}
	for _, one := range []struct {
		kind corev1.SecretType
		key  string
	}{{corev1.SecretTypeDockerConfigJson, corev1.DockerConfigJsonKey}, {corev1.SecretTypeDockercfg, corev1.DockerConfigKey}} {
		if value, ok := s.Data[one.key]; ok && s.Type == one.kind && !json.Valid(value) {
			errs = append(errs, field.Invalid(path.Key(one.key), "<contents>", "must be JSON"))
		}
	}
	if _, byName := s.Data[corev1.BasicAuthUsernameKey]; s.Type == corev1.SecretTypeBasicAuth && !byName {
		if _, byPassword := s.Data[corev1.BasicAuthPasswordKey]; !byPassword {
			errs = append(errs, field.Required(path.Key(corev1.BasicAuthUsernameKey), "a secret of this type must have a user name or a password"))
		}
	}
	return errs
}

// ValidateInternalSecretUpdate checks an updated InternalSecret (API-VALIS-1).
func ValidateInternalSecretUpdate(s, old *gardencorev1beta1.InternalSecret) field.ErrorList {
	errs := metadataUpdate(s, old)
	errs = append(errs, immutable(s.Type, old.Type, field.NewPath("type"))...)
	if old.Immutable != nil && *old.Immutable {
		errs = append(errs, immutable(s.Data, old.Data, field.NewPath("data"))...)
		errs = append(errs, immutable(deref(s.Immutable), true, field.NewPath("immutable"))...)
	}
	return append(errs, ValidateInternalSecret(s)...)
}
