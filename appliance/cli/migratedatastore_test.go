// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// TestMigrateUnfinishedRotation moves a garden whose keys are being changed: servers that share a datastore have copies of the keys, so a
// change that has begun could not be completed there.
func TestMigrateUnfinishedRotation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start func(c identity.Changes, now time.Time) error
		want  string
	}{
		"authorities":         {identity.Changes.StartAuthorityRotation, "the certificate authorities (terrarium certificate rotate-ca complete)"},
		"encryption key":      {identity.Changes.StartEncryptionRotation, "the encryption key (terrarium certificate rotate-encryption-key --follow"},
		"service accounts":    {identity.Changes.StartTokenKeyRotation, "the key of service account tokens (terrarium certificate rotate-service-account-key complete)"},
		"workload identities": {identity.Changes.StartWorkloadIdentityRotation, "the key of workload identity tokens (terrarium certificate rotate-workload-identity-key complete)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			g, err := identity.Ensure(dir, identity.Names{Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}, clock.RealClock{})
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.start(g.Changes, time.Now()); err != nil {
				t.Fatal(err)
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			// Nobody listens there, and nobody is asked.
			r := newWorld().run(t, "migrate-datastore", "--data-dir", dir, "--from", "sqlite", "--to", "https://127.0.0.1:1")
			if r.status != 1 || !strings.Contains(r.errors, tc.want) {
				t.Errorf("status %d, want 1 and %q\n%s", r.status, tc.want, r.errors)
			}
		})
	}
}
