// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// refusesToServe starts a server that must end, and say what to do.
func refusesToServe(t *testing.T, m *member, endpoint, says string) {
	t.Helper()
	m.run(t, endpoint)
	ended := make(chan error, 1)
	go func() { ended <- m.command.Wait() }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(m.log.String(), says) {
			t.Errorf("A server with such keys ends, and says %q.\nWait(): got %v", says, err)
		}
	case <-time.After(harness.Patience):
		t.Fatal("A server with such keys ends, and it goes on.")
	}
}

// TestOnlyRotationsPublish unpacks an old copy of the keys on a server, which starts alone: it does not lead with them, so the other one
// has what it had. A new key for bundles is published because somebody asks for that (OPER-ROT-1).
func TestOnlyRotationsPublish(t *testing.T) {
	t.Parallel()
	endpoint := newEtcd(t, nil).endpoint()
	first, second := two(t, endpoint)
	awaitHolders(t, first)
	old := contents(t, second)
	rotate(t, first, "serviceAccountKey", "start", "")
	rotate(t, first, "serviceAccountKey", "complete", "")
	awaitHolders(t, first)
	second.end(t, syscall.SIGTERM)
	first.end(t, syscall.SIGTERM)
	newest := contents(t, first)
	for name, data := range old {
		if strings.HasPrefix(name, "pki/") {
			write(t, filepath.Join(second.dir, name), data)
		}
	}
	refusesToServe(t, second, endpoint, "terrarium bundle publish")
	first.run(t, endpoint)
	first.await(t, saysReady, harness.Patience)
	if diff := cmp.Diff(digests(newest), digests(contents(t, first))); diff != "" {
		t.Errorf("Nobody takes up what was unpacked: digests of the keys (-want +got):\n%s", diff)
	}
	if got := command(t, 1, "bundle", "publish", "--data-dir", first.dir); !strings.Contains(got, "stop all servers") {
		t.Errorf("A server that runs publishes its rotations alone.\nbundle publish: got %s", got)
	}

	// A bundle was stolen.
	was, err := identity.Held(first.dir)
	first.end(t, syscall.SIGTERM)
	if err := errors.Join(err, os.Remove(filepath.Join(first.dir, "pki", "bundle.key"))); err != nil {
		t.Fatal(err)
	}
	command(t, 0, "bundle", "publish", "--data-dir", first.dir)
	first.run(t, endpoint)
	first.await(t, saysReady, harness.Patience)
	if is, err := identity.Held(first.dir); err != nil || is.Number != was.Number+1 {
		t.Errorf("Held(): got %+v, %v, want the generation after %d", is, err, was.Number)
	}
	join(t, first, second, "--force")
	second.run(t, endpoint)
	second.await(t, saysStandby, harness.Patience)
	awaitHolders(t, first)
	alike(t, first, second)
}
