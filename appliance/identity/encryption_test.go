// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"encoding/base64"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func checkEncryption(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion, Kind string
		Resources        []struct {
			Resources []string
			Providers []struct {
				Secretbox struct {
					Keys []struct{ Name, Secret string }
				}
			}
		}
	}
	if err := yaml.UnmarshalStrict(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "apiserver.config.k8s.io/v1" || got.Kind != "EncryptionConfiguration" {
		t.Errorf("The API server reads this kind of file only.\ntype = %s %s", got.APIVersion, got.Kind)
	}
	if diff := cmp.Diff([]string{"secrets", "internalsecrets.core.gardener.cloud", "shootstates.core.gardener.cloud"}, got.Resources[0].Resources); diff != "" {
		t.Errorf("Whatever holds credentials is encrypted.\nresources (-want +got):\n%s", diff)
	}
	key, err := base64.StdEncoding.DecodeString(got.Resources[0].Providers[0].Secretbox.Keys[0].Secret)
	if err != nil || len(key) != 32 {
		t.Errorf("The key of secretbox has 32 bytes.\nlength = %d, error = %v", len(key), err)
	}
}

func TestEnsureKeepsOperatorsEncryptionKeys(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.ensure(t, names())
	path := w.path("pki", "encryption.yaml")
	const rotated = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, internalsecrets.core.gardener.cloud, shootstates.core.gardener.cloud]
  providers:
  - aesgcm: {keys: [{name: b, secret: MDEyMzQ1Njc4OTAxMjM0NQ==}]}
  - secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=}]}
  - identity: {}
`
	write(t, path, []byte(rotated))
	w.ensure(t, names())
	if diff := cmp.Diff(rotated, string(read(t, path))); diff != "" {
		t.Errorf("An operator may rotate keys by hand.\nfile (-want +got):\n%s", diff)
	}
}

func TestGrowEncryptsWhatIsNew(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.ensure(t, names())
	path := w.path("pki", "encryption.yaml")
	const was = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- providers:
  - secretbox:
      keys:
      - name: a
        secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=
  resources:
  - secrets
  - internalsecrets.core.gardener.cloud
`
	write(t, path, []byte(was))
	g := w.ensure(t, names())
	if diff := cmp.Diff(was, string(read(t, path))); diff != "" {
		t.Errorf("A start changes nothing that servers share.\nfile (-want +got):\n%s", diff)
	}
	if err := g.Encryption.EncryptsAll(); err == nil {
		t.Error("What would be stored as it is, is told.\nEncryptsAll(): got no error")
	}
	if err := errors.Join(g.Sharing.Grow(), g.Encryption.EncryptsAll()); err != nil {
		t.Errorf("Grow(), EncryptsAll(): got %v", err)
	}
	if diff := cmp.Diff(was+"  - shootstates.core.gardener.cloud\n", string(read(t, path))); diff != "" {
		t.Errorf("A garden from before there were ShootStates encrypts them with the keys that it has.\nfile (-want +got):\n%s", diff)
	}
}
