// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

type keySet struct {
	Keys []struct{ Kty, Use, Alg, Kid, N, E string }
}

// verify checks a token as a system outside of the garden would: with nothing but the published keys.
func verifyToken(t *testing.T, keys []byte, token string) map[string]any {
	t.Helper()
	var set keySet
	if err := json.Unmarshal(keys, &set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("key set %s: %v", keys, err)
	}
	key, parts := set.Keys[0], strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("token %q has %d parts, want 3", token, len(parts))
	}
	decode := func(text string) []byte {
		data, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatalf("decode %q: %v", text, err)
		}
		return data
	}
	var head map[string]string
	if err := json.Unmarshal(decode(parts[0]), &head); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"alg": "RS256", "typ": "JWT", "kid": key.Kid}, head); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(decode(key.N)), E: int(new(big.Int).SetBytes(decode(key.E)).Int64())}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], decode(parts[2])); err != nil {
		t.Errorf("API-TOKEN-1: the signature does not come from the published key: %v", err)
	}
	claims := map[string]any{}
	if err := json.Unmarshal(decode(parts[1]), &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestWorkloadIdentityToken(t *testing.T) {
	t.Parallel()
	key := newWorld(t).ensure(t, names()).WorkloadIdentity
	token, err := key.Sign(map[string]string{"sub": "rose"})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := key.KeySet()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"sub": "rose"}, verifyToken(t, keys, token)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if strings.Contains(string(keys), `"d"`) {
		t.Errorf("a key set is public, got %s", keys)
	}
	discovery, err := key.Discovery("https://garden.example/issuer")
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(discovery, &document); err != nil {
		t.Fatal(err)
	}
	if document["issuer"] != "https://garden.example/issuer" || document["jwks_uri"] != "https://garden.example/issuer/jwks" {
		t.Errorf("verifiers find the keys through the discovery document, got %s", discovery)
	}
}

func TestWorkloadIdentityKeyLasts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.ensure(t, names()).WorkloadIdentity
	if again := w.ensure(t, names()).WorkloadIdentity; again.ID != first.ID {
		t.Error("the key is the same after a restart, or every token would become invalid")
	}

	remove(t, w.path("pki", "workload-identity.key"))
	write(t, w.path("layout"), []byte("1\n"))
	g, err := identity.Ensure(w.dir, names(), w.clk)
	if err != nil {
		t.Fatalf("a data directory of a version that had no such key gets one: %v", err)
	}
	if g.WorkloadIdentity.ID == "" || g.WorkloadIdentity.ID == first.ID {
		t.Error("a key that was not there cannot be the one that was")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, w.path("layout"))); got != "2\n" {
		t.Errorf("the layout is the one that has the key, got %q", got)
	}
}
