// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	// EncryptionSecret is the name of the Secret with the encryption configuration.
	EncryptionSecret = gardencorev1beta1.SecretPrefixETCDEncryptionConfiguration
	// encryptionKey is the key in it.
	encryptionKey = "encryption-configuration.yaml"
)

// errEncryption says nothing of what was found, because there are keys in it.
var errEncryption = errors.New("it has no encryption configuration as it was rendered")

// encryptionConfiguration encrypts Secrets and the resources that the shoot wants encrypted. Objects that were written without
// encryption can still be read, objects that another provider encrypted cannot.
func encryptionConfiguration(f facts.Shoot, in *component.Inputs) (map[string]any, error) {
	kept, _ := in.Kept.(*corev1.Secret)
	encryption, err := EncryptionInUse(f.Shoot, kept)
	if err != nil {
		return nil, err
	}
	inUse := slices.Clone(in.Secret(gardencorev1beta1.SecretETCDEncryptionKey).Keys)
	if readsOnly(f) {
		slices.Reverse(inUse)
	}
	keys := []any{}
	for _, key := range inUse {
		keys = append(keys, map[string]string{"name": key.Name, "secret": base64.StdEncoding.EncodeToString(key.Secret)})
	}
	resources := append([]string{"secrets"}, encryption.Resources...)
	slices.Sort(resources)
	return map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "EncryptionConfiguration",
		"resources": []any{map[string]any{
			"resources": slices.Compact(resources),
			"providers": []any{
				map[string]any{string(encryption.Provider.Type): map[string]any{"keys": keys}},
				map[string]any{"identity": map[string]any{}},
			},
		}},
	}, nil
}

// readsOnly reports whether a new key does not encrypt yet: instances of the API server that do not know it could not read what it
// has encrypted. The old key encrypts until all of them do (GLET-CRED-13).
func readsOnly(f facts.Shoot) bool {
	return query.RotationPhases(f.Shoot).ETCDEncryptionKey == gardencorev1beta1.CredentialsRotationPhasePreparing && !f.EncryptionKeyKnown
}

// encryptionOf reads from the Secret of an API server what it encrypts, including Secrets, and how.
func encryptionOf(secret *corev1.Secret) (gardencorev1beta1.EncryptionAtRest, error) {
	var config struct {
		Resources []struct {
			Resources []string         `json:"resources"`
			Providers []map[string]any `json:"providers"`
		} `json:"resources"`
	}
	var found gardencorev1beta1.EncryptionAtRest
	if err := yaml.Unmarshal(secret.Data[encryptionKey], &config); err != nil || len(config.Resources) != 1 || len(config.Resources[0].Providers) == 0 {
		return found, errEncryption
	}
	first := config.Resources[0].Providers[0]
	for _, known := range []gardencorev1beta1.EncryptionProviderType{
		gardencorev1beta1.EncryptionProviderTypeAescbc, gardencorev1beta1.EncryptionProviderTypeAesgcm, gardencorev1beta1.EncryptionProviderTypeSecretbox,
	} {
		if first[string(known)] != nil {
			found.Resources, found.Provider.Type = config.Resources[0].Resources, known
			return found, nil
		}
	}
	return found, errEncryption
}

// EncryptionInUse is what the API server of a shoot has to encrypt, and how. What it has written can only be read with the
// settings that it was written with, and nothing is written again. So the settings stay as the status reports them, or else as
// they are in the Secret of the API server. Only a new API server, whose Secret is nil, gets the settings of the spec.
func EncryptionInUse(shoot *gardencorev1beta1.Shoot, secret *corev1.Secret) (gardencorev1beta1.EncryptionAtRest, error) {
	if c := shoot.Status.Credentials; c != nil && c.EncryptionAtRest != nil {
		return query.PlainEncryption(*c.EncryptionAtRest), nil
	}
	if secret == nil {
		return query.EncryptionAtRest(&shoot.Spec), nil
	}
	found, err := encryptionOf(secret)
	if err != nil {
		return gardencorev1beta1.EncryptionAtRest{}, fmt.Errorf("read secret %q: %w", secret.Namespace+"/"+secret.Name, err)
	}
	return query.PlainEncryption(found), nil
}
