// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// EncryptionSecret is the name of the Secret with the encryption configuration.
	EncryptionSecret = gardencorev1beta1.SecretPrefixETCDEncryptionConfiguration
	// encryptionKey is the key in it.
	encryptionKey = "encryption-configuration.yaml"

	// always are the resources that are encrypted in every cluster.
	always = "secrets"
	// identity is the provider that does not encrypt.
	identity = "identity"
)

// errEncryption says nothing of what was found, because there are keys in it.
var errEncryption = errors.New("it has no encryption configuration as it was rendered")

// Encryption is what an API server encrypts besides Secrets, and how. It can read all of these resources both encrypted and not.
type Encryption struct {
	// Encrypted are the resources that are encrypted when they are written, Readable those that are not. Both are sorted.
	Encrypted, Readable []string
	// Provider encrypts.
	Provider gardencorev1beta1.EncryptionProviderType
	// providers are those of the known keys, by the names of the keys. A key is used with one provider only.
	providers map[string]gardencorev1beta1.EncryptionProviderType
}

// EncryptionInUse is what the API server of a shoot encrypts, and how. What it has written can only be read with the settings that it
// was written with, so these are taken from the Secret of the API server, which is nil if there is none, or else from the status. Only
// a new API server gets the settings of the spec.
func EncryptionInUse(shoot *gardencorev1beta1.Shoot, secret *corev1.Secret) (Encryption, error) {
	reported := shoot.Status.Credentials != nil && shoot.Status.Credentials.EncryptionAtRest != nil
	is := query.EncryptionAtRest(&shoot.Spec)
	if reported {
		is = query.PlainEncryption(*shoot.Status.Credentials.EncryptionAtRest)
	}
	used := Encryption{Encrypted: is.Resources, Provider: is.Provider.Type}
	if secret == nil {
		return used, nil
	}
	found, err := encryptionOf(secret)
	if err != nil && reported {
		return used, nil
	}
	if err != nil {
		return Encryption{}, fmt.Errorf("read secret %q: %w", secret.Namespace+"/"+secret.Name, err)
	}
	if reported {
		found.Provider = used.Provider
		// Resources that the API server cannot read are learned first.
		found.Readable = without(union(found.Readable, used.Encrypted), found.Encrypted)
	}
	return found, nil
}

// Resources are all resources besides Secrets that may be stored encrypted.
func (e Encryption) Resources() []string {
	return union(e.Encrypted, e.Readable)
}

// AtRest is the encryption as the status of a shoot reports it.
func (e Encryption) AtRest() gardencorev1beta1.EncryptionAtRest {
	return gardencorev1beta1.EncryptionAtRest{Resources: e.Encrypted, Provider: gardencorev1beta1.EncryptionProviderStatus{Type: e.Provider}}
}

// ProviderOf is the provider with which the key of that name is used; empty if the API server does not know the key.
func (e Encryption) ProviderOf(key string) gardencorev1beta1.EncryptionProviderType {
	return e.providers[key]
}

// Reading names the resources that can be read either way, and those that are to be encrypted, in a form for marks.
func (e Encryption) Reading(wanted []string) string {
	sum := sha256.Sum256([]byte(strings.Join(e.Resources(), ",") + ";" + strings.Join(wanted, ",")))
	return "resources-" + hex.EncodeToString(sum[:8])
}

// Writing names the resources and how each of them is written, in a form for marks.
func (e Encryption) Writing() string {
	sum := sha256.Sum256([]byte(strings.Join(e.Encrypted, ",") + ";" + strings.Join(e.Readable, ",")))
	return "written-" + hex.EncodeToString(sum[:8])
}

// towards is the next step to the encryption of other resources: first all of them can be read both ways, then they are written as
// they are wanted, and in the end there is nothing left that has to be read in another way.
func (e Encryption) towards(want []string, is facts.Encryption) Encryption {
	all := union(e.Resources(), want)
	switch {
	case !is.Changing:
	case is.Written:
		e.Encrypted, e.Readable = want, nil
	case is.Known:
		e.Encrypted, e.Readable = want, without(all, want)
	default:
		e.Readable = without(all, e.Encrypted)
	}
	return e
}

// encrypters are the providers with their keys, newest key first. A key that is new in a rotation is used with the provider that the
// shoot wants, all others with the one that they are used with.
func (e Encryption) encrypters(keys []secrets.EncryptionKey, wanted gardencorev1beta1.EncryptionProviderType) []encrypter {
	var all []encrypter
	for i, key := range keys {
		provider := e.providers[key.Name]
		switch {
		case provider != "":
		case i == 0 && len(keys) > 1:
			provider = wanted
		default:
			provider = e.Provider
		}
		all = append(all, encrypter{provider: provider, key: key})
	}
	return all
}

type encrypter struct {
	provider gardencorev1beta1.EncryptionProviderType
	key      secrets.EncryptionKey
}

// encryptionConfiguration encrypts Secrets and the resources that are to be encrypted. Whatever was written earlier can still be read.
func encryptionConfiguration(f facts.Shoot, in *component.Inputs) (map[string]any, error) {
	kept, _ := in.Kept.(*corev1.Secret)
	used, err := EncryptionInUse(f.Shoot, kept)
	if err != nil {
		return nil, err
	}
	wanted := query.EncryptionAtRest(&f.Shoot.Spec)
	used = used.towards(wanted.Resources, f.Encryption)
	encrypters := used.encrypters(in.Secret(gardencorev1beta1.SecretETCDEncryptionKey).Keys, wanted.Provider.Type)
	if readsOnly(f) {
		slices.Reverse(encrypters)
	}
	encrypt, plain := providerList(encrypters), map[string]any{identity: map[string]any{}}
	rules := []any{map[string]any{"resources": union(used.Encrypted, []string{always}), "providers": append(slices.Clone(encrypt), plain)}}
	if len(used.Readable) > 0 {
		rules = append(rules, map[string]any{"resources": used.Readable, "providers": append([]any{plain}, encrypt...)})
	}
	return map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "resources": rules}, nil
}

// providerList puts the keys of a provider together that follow each other.
func providerList(encrypters []encrypter) []any {
	var list []any
	for i := 0; i < len(encrypters); {
		provider, keys := encrypters[i].provider, []any{}
		for ; i < len(encrypters) && encrypters[i].provider == provider; i++ {
			key := encrypters[i].key
			keys = append(keys, map[string]string{"name": key.Name, "secret": base64.StdEncoding.EncodeToString(key.Secret)})
		}
		list = append(list, map[string]any{string(provider): map[string]any{"keys": keys}})
	}
	return list
}

// readsOnly reports whether a new key does not encrypt yet: instances of the API server that do not know it could not read what it
// has encrypted. The old key encrypts until all of them do (GLET-CRED-13).
func readsOnly(f facts.Shoot) bool {
	return query.RotationPhases(f.Shoot).ETCDEncryptionKey == gardencorev1beta1.CredentialsRotationPhasePreparing && !f.Encryption.Known
}

// rule is a part of an encryption configuration. The first provider writes.
type rule struct {
	Resources []string              `json:"resources"`
	Providers []map[string]provider `json:"providers"`
}

type provider struct {
	Keys []struct {
		Name string `json:"name"`
	} `json:"keys"`
}

// encryptionOf reads what an API server encrypts and how from its Secret.
func encryptionOf(secret *corev1.Secret) (Encryption, error) {
	var config struct {
		Resources []rule `json:"resources"`
	}
	found := Encryption{providers: map[string]gardencorev1beta1.EncryptionProviderType{}}
	if err := yaml.Unmarshal(secret.Data[encryptionKey], &config); err != nil || len(config.Resources) == 0 {
		return found, errEncryption
	}
	for _, one := range config.Resources {
		if err := found.add(one); err != nil {
			return found, err
		}
	}
	if found.Provider == "" {
		return found, errEncryption
	}
	found.Encrypted = query.PlainEncryption(found.AtRest()).Resources
	return found, nil
}

// add takes up a rule.
func (e *Encryption) add(one rule) error {
	for i, providers := range one.Providers {
		for name, p := range providers {
			if name == identity {
				if i == 0 {
					e.Readable = union(e.Readable, one.Resources)
				}
				continue
			}
			kind := gardencorev1beta1.EncryptionProviderType(name)
			if !slices.Contains(encryptionProviders(), kind) {
				return errEncryption
			}
			if i == 0 {
				e.Encrypted, e.Provider = union(e.Encrypted, one.Resources), kind
			}
			for _, key := range p.Keys {
				e.providers[key.Name] = kind
			}
		}
	}
	return nil
}

func encryptionProviders() []gardencorev1beta1.EncryptionProviderType {
	return []gardencorev1beta1.EncryptionProviderType{
		gardencorev1beta1.EncryptionProviderTypeAescbc, gardencorev1beta1.EncryptionProviderTypeAesgcm, gardencorev1beta1.EncryptionProviderTypeSecretbox,
	}
}

// union is sorted and contains nothing twice.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func without(all, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(gone, one) })
}
