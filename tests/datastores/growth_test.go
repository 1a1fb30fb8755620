// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestUpgradeEncryptsMore upgrades two servers from a version that did not encrypt ShootStates: the one that takes the lead has them encrypted,
// with the keys of all, and the other one follows.
func TestUpgradeEncryptsMore(t *testing.T) {
	t.Parallel()
	endpoint := newEtcd(t, nil).endpoint()
	first, second := newMember(t, t.TempDir()), newMember(t, filepath.Join(t.TempDir(), "second"))
	first.run(t, endpoint)
	first.await(t, saysReady, harness.Patience)
	first.end(t, syscall.SIGTERM)
	was := encryptLess(t, first, endpoint)
	join(t, first, second)

	first.run(t, endpoint)
	first.await(t, saysReady, harness.Patience)
	second.run(t, endpoint)
	second.await(t, saysStandby, harness.Patience)
	awaitHolders(t, first)
	alike(t, first, second)
	if is, err := identity.Held(second.dir); err != nil || is.Number != was.Number+1 {
		t.Errorf("The further kind is one generation: got %+v after %+v, %v", is, was, err)
	}

	state := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "encrypted"}}
	if err := second.client(t).Create(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	found, err := connect(t, endpoint).Get(t.Context(), "/registry/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	const mark = "k8s:enc:"
	var stored []string
	for _, kv := range found.Kvs {
		if strings.HasSuffix(string(kv.Key), "shootstates/default/encrypted") {
			stored = append(stored, string(kv.Value[:min(len(mark), len(kv.Value))]))
		}
	}
	if diff := cmp.Diff([]string{mark}, stored); diff != "" {
		t.Errorf("The ShootState is stored once, and encrypted: how values begin (-want +got):\n%s", diff)
	}
	first.end(t, syscall.SIGKILL)
	second.await(t, saysReady, takeOver)
	if err := second.client(t).Get(t.Context(), client.ObjectKeyFromObject(state), state); err != nil {
		t.Errorf("The other server reads it: got %v", err)
	}
}

// encryptLess leaves the keys of a garden, here and in the datastore, as a server of an older version does that does not encrypt ShootStates.
func encryptLess(t *testing.T, m *member, endpoint string) identity.Generation {
	t.Helper()
	keys, err := identity.Ensure(m.dir, identity.Names{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	text := contents(t, m)["pki/encryption.yaml"]
	less := bytes.Replace(text, []byte("  - shootstates.core.gardener.cloud\n"), nil, 1)
	if bytes.Equal(text, less) {
		t.Fatal("the configuration has another form")
	}
	write(t, filepath.Join(m.dir, "pki", "encryption.yaml"), less)
	if err := identity.AllowPublication(m.dir); err != nil {
		t.Fatal(err)
	}
	d := generations.Datastore{Client: connect(t, endpoint)}
	is, err := d.Read(t.Context())
	if err != nil || is == nil {
		t.Fatalf("Read(): got %v, %v", is, err)
	}
	next, err := keys.Sharing.Proposal(&identity.Generation{Number: is.Generation, Digest: is.Digest})
	if err != nil || next == nil {
		t.Fatalf("Proposal(): got %v, %v", next, err)
	}
	older := generations.Record{Generation: next.Number, Digest: next.Digest, Sealed: next.Content, By: "an older version"}
	if err := d.Replace(t.Context(), is, older); err != nil {
		t.Fatal(err)
	}
	if err := keys.Sharing.Hold(next.Generation); err != nil {
		t.Fatal(err)
	}
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}

	return next.Generation
}
