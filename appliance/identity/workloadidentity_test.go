// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

type key struct{ Kty, Use, Alg, Kid, N, E string }

type keySet struct{ Keys []key }

// verifyToken checks a token as a system outside of the garden would: with nothing but the published keys. It returns nil if none of them has
// signed it.
func verifyToken(t *testing.T, keys []byte, token string) map[string]any {
	t.Helper()
	var set keySet
	if err := json.Unmarshal(keys, &set); err != nil || len(set.Keys) == 0 {
		t.Fatalf("key set %s: %v", keys, err)
	}
	parts := strings.Split(token, ".")
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
	i := slices.IndexFunc(set.Keys, func(k key) bool { return k.Kid == head["kid"] })
	if i < 0 {
		return nil
	}
	key := set.Keys[i]
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
	g := newWorld(t).ensure(t, names())
	token, err := g.WorkloadIdentity.Sign(map[string]string{"sub": "rose"})
	if err != nil {
		t.Fatal(err)
	}
	keys := g.WorkloadIdentity.Keys().KeySet
	if diff := cmp.Diff(map[string]any{"sub": "rose"}, verifyToken(t, keys, token)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if strings.Contains(string(keys), `"d"`) {
		t.Errorf("a key set is public, got %s", keys)
	}
	discovery, err := identity.WorkloadIdentityDiscovery("https://garden.example/issuer")
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
	first := w.ensure(t, names()).WorkloadIdentity.Keys()
	if again := w.ensure(t, names()).WorkloadIdentity.Keys(); again.ID != first.ID {
		t.Error("the key is the same after a restart, or every token would become invalid")
	}

	remove(t, w.path("pki", "workload-identity.key"))
	write(t, w.path("layout"), []byte("1\n"))
	g, err := identity.Ensure(w.dir, names(), w.clk)
	if err != nil {
		t.Fatalf("a data directory of a version that had no such key gets one: %v", err)
	}
	if g.WorkloadIdentity.Keys().ID == "" || g.WorkloadIdentity.Keys().ID == first.ID {
		t.Error("a key that was not there cannot be the one that was")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, w.path("layout"))); got != "2\n" {
		t.Errorf("the layout is the one that has the key, got %q", got)
	}
}

// TestWorkloadIdentityRotation changes the key that signs: what was signed before is verified until the change is completed.
func TestWorkloadIdentityRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.ensure(t, names())
	sign := func() string {
		t.Helper()
		token, err := g.WorkloadIdentity.Sign(map[string]string{"sub": "rose"})
		if err != nil {
			t.Fatal(err)
		}

		return token
	}
	verified := func(token string) bool {
		t.Helper()
		return verifyToken(t, g.WorkloadIdentity.Keys().KeySet, token) != nil
	}
	before, first := sign(), g.WorkloadIdentity.Keys()
	if err := g.Changes.CompleteWorkloadIdentityRotation(first.ID, w.clk.Now()); !errors.Is(err, identity.ErrNotRotating) {
		t.Errorf("complete before start: got %v, want ErrNotRotating", err)
	}
	key := read(t, w.path("pki", "workload-identity.key"))
	if err := g.Changes.StartWorkloadIdentityRotation(w.clk.Now()); err != nil {
		t.Fatalf("StartWorkloadIdentityRotation(...) = %v", err)
	}
	if err := g.Changes.StartWorkloadIdentityRotation(w.clk.Now()); !errors.Is(err, identity.ErrRotating) {
		t.Errorf("start before complete: got %v, want ErrRotating", err)
	}
	checkModes(t, w.dir)
	second := g.WorkloadIdentity.Keys()
	after := sign()
	for _, when := range []string{"at once", "after a restart"} {
		if is := g.WorkloadIdentity.Keys(); is.ID == first.ID || is.ID != second.ID || !is.Since.Equal(w.clk.Now()) {
			t.Errorf("%s: keys %+v", when, is)
		}
		if !verified(before) || !verified(after) {
			t.Errorf("%s: tokens of the former key are verified: %t, of the new one: %t", when, verified(before), verified(after))
		}
		g = w.ensure(t, names())
	}
	files, err := identity.Portable(w.dir)
	if _, ok := files["pki/workload-identity-former.pub"]; !ok || err != nil {
		t.Errorf("a snapshot has the former key: %v", err)
	}
	items, err := identity.Inspect(w.dir, w.clk.Now())
	if !slices.ContainsFunc(items, func(i identity.Item) bool { return i.Subject == first.ID && i.State == identity.StateRotating }) || err != nil {
		t.Errorf("Inspect(...) = %v, %v", items, err)
	}
	if err := g.Changes.CompleteWorkloadIdentityRotation(first.ID, w.clk.Now()); !errors.Is(err, identity.ErrNotRotating) {
		t.Errorf("complete another rotation than the one that goes on: got %v, want ErrNotRotating", err)
	}
	if err := g.Changes.CompleteWorkloadIdentityRotation(second.ID, w.clk.Now()); err != nil {
		t.Fatalf("CompleteWorkloadIdentityRotation() = %v", err)
	}
	if verified(before) || !verified(after) {
		t.Errorf("after it is complete, tokens of the former key are verified: %t, of the new one: %t", verified(before), verified(after))
	}
	if is := w.ensure(t, names()).WorkloadIdentity.Keys(); is.Rotating() || is.ID != second.ID {
		t.Errorf("after a restart the former key is still gone: got %+v", is)
	}

	// The process ends between the two steps of a start.
	g = w.ensure(t, names())
	now := read(t, w.path("pki", "workload-identity.key"))
	if err := g.Changes.StartWorkloadIdentityRotation(w.clk.Now()); err != nil || string(key) == string(now) {
		t.Fatal(err)
	}
	write(t, w.path("pki", "workload-identity.key"), now)
	g = w.ensure(t, names())
	if is := g.WorkloadIdentity.Keys(); is.Rotating() || is.ID != second.ID {
		t.Errorf("an interrupted start changes nothing: got %+v", is)
	}
}
