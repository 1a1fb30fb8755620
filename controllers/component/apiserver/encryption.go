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
)

const (
	// EncryptionSecret is the name of the Secret with the encryption configuration.
	EncryptionSecret = gardencorev1beta1.SecretPrefixETCDEncryptionConfiguration
	// encryptionKey is the key in it.
	encryptionKey = "encryption-configuration.yaml"
)

// errEncryption tells nothing of what was found: there are keys in it.
var errEncryption = errors.New("it has no encryption configuration as it was rendered")

// encryptionConfiguration encrypts Secrets and further resources. Of these, what was written before, without
// encryption, is still read; what another configuration has encrypted is not.
func encryptionConfiguration(e Encryption) (string, error) {
	provider := e.Provider
	if provider == "" {
		provider = gardencorev1beta1.EncryptionProviderTypeAescbc
	}
	keys := make([]any, 0, len(e.Keys))
	for _, key := range e.Keys {
		keys = append(keys, map[string]string{"name": key.Name, "secret": base64.StdEncoding.EncodeToString(key.Key)})
	}
	resources := append([]string{"secrets"}, e.Resources...)
	slices.Sort(resources)
	return component.YAML(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "EncryptionConfiguration",
		"resources": []any{map[string]any{
			"resources": slices.Compact(resources),
			"providers": []any{
				map[string]any{string(provider): map[string]any{"keys": keys}},
				map[string]any{"identity": map[string]any{}},
			},
		}},
	})
}

// EncryptionOf reads from the Secret of an API server what it encrypts, Secrets among it, and how.
func EncryptionOf(secret *corev1.Secret) (gardencorev1beta1.EncryptionAtRest, error) {
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
// same settings, and nothing is written anew: so they stay as the status reports them, or else as the API server has them in
// its Secret. Only a new one, for which the Secret is nil, begins with what the shoot wants.
func EncryptionInUse(shoot *gardencorev1beta1.Shoot, secret *corev1.Secret) (gardencorev1beta1.EncryptionAtRest, error) {
	if c := shoot.Status.Credentials; c != nil && c.EncryptionAtRest != nil {
		return query.PlainEncryption(*c.EncryptionAtRest), nil
	}
	if secret == nil {
		return query.EncryptionAtRest(&shoot.Spec), nil
	}
	found, err := EncryptionOf(secret)
	if err != nil {
		return gardencorev1beta1.EncryptionAtRest{}, fmt.Errorf("read secret %q: %w", secret.Namespace+"/"+secret.Name, err)
	}
	return query.PlainEncryption(found), nil
}
