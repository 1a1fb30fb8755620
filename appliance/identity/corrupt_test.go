// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func TestEnsureCorrupt(t *testing.T) {
	t.Parallel()

	encryption := func(resources, providers string) string {
		return "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [" +
			resources + "]\n  providers: " + providers + "\n"
	}
	const both = "secrets, internalsecrets.core.gardener.cloud"
	cases := map[string]struct {
		reason string
		file   string
		change func(t *testing.T, w world, path string)
		remedy string
	}{
		"CACertGarbage": {
			reason: "A CA that cannot be read is not replaced, because every client pins it.",
			file:   "pki/server-ca.crt", change: overwrite("garbage"), remedy: "restore it from a backup",
		},
		"CACertMissing": {
			reason: "A CA that is gone is not replaced either.",
			file:   "pki/client-ca.crt", change: func(t *testing.T, _ world, path string) { t.Helper(); remove(t, path) },
			remedy: "restore it from a backup",
		},
		"CAKeyTruncated": {
			reason: "Half a key is no key.",
			file:   "pki/client-ca.key", remedy: "restore it from a backup",
			change: func(t *testing.T, _ world, path string) {
				t.Helper()
				data := read(t, path)
				write(t, path, data[:len(data)/2])
			},
		},
		"CAKeyOfAnother": {
			reason: "A key that does not belong to the certificate would sign what nobody trusts.",
			file:   "pki/server-ca.key", remedy: "restore it from a backup",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				write(t, path, read(t, w.path("pki", "client-ca.key")))
			},
		},
		"CANoAuthority": {
			reason: "A certificate of a server cannot sign.",
			file:   "pki/server-ca.crt", remedy: "restore it from a backup",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				write(t, path, read(t, w.path("pki", "serving.pem")))
			},
		},
		"CAExpired": {
			reason: "After ten years the operator has to act.",
			file:   "pki/server-ca.crt", remedy: "restore it from a backup",
			change: func(_ *testing.T, w world, _ string) { w.clk.SetTime(w.clk.Now().Add(3651 * day)) },
		},
		"LeafGarbage": {
			reason: "A broken certificate is a sign of a broken disk; the way out is said.",
			file:   "pki/serving.pem", change: overwrite("garbage"), remedy: "remove the file and restart",
		},
		"LeafKeyOfAnother": {
			reason: "A certificate and a key that do not belong together serve nobody.",
			file:   "pki/admin.pem", remedy: "remove the file and restart",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				cert, _, _ := bytes.Cut(read(t, path), []byte("-----BEGIN EC"))
				write(t, path, slices.Concat(cert, read(t, w.path("pki", "service-account.key"))))
			},
		},
		"ServiceAccountKey": {
			reason: "With another key every service account token would be worthless.",
			file:   "pki/service-account.key", change: overwrite("garbage"), remedy: "restore it from a backup",
		},
		"EncryptionNoYAML": {
			reason: "A file that cannot be read must not be replaced by a new key.",
			file:   "pki/encryption.yaml", change: overwrite("\t:"), remedy: "restore it from a backup",
		},
		"EncryptionOtherKind": {
			reason: "Another file in its place is not it.",
			file:   "pki/encryption.yaml", change: overwrite("apiVersion: v1\nkind: Secret\n"), remedy: "restore it",
		},
		"EncryptionIdentityFirst": {
			reason: "Secrets are never written in the clear.",
			file:   "pki/encryption.yaml", change: overwrite(encryption(both, "[{identity: {}}]")), remedy: "restore it",
		},
		"EncryptionOneResourceOnly": {
			reason: "InternalSecrets hold the keys of CAs.",
			file:   "pki/encryption.yaml", remedy: "restore it",
			change: overwrite(encryption("secrets", "[{secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=}]}}]")),
		},
		"EncryptionShortKey": {
			reason: "A key of the wrong size would be refused much later, by the API server.",
			file:   "pki/encryption.yaml", change: overwrite(encryption(both, "[{secretbox: {keys: [{name: a, secret: MDEyMw==}]}}]")),
			remedy: "restore it",
		},
		"EncryptionUnknownField": {
			reason: "A slip of the pen in a field's name must not turn encryption off.",
			file:   "pki/encryption.yaml", remedy: "restore it",
			change: overwrite(encryption(both, "[{secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=}], key: []}}]")),
		},
		"WorkloadIdentityKeyGone": {
			reason: "Other systems trust the key; a new one would lock every workload out of them.",
			file:   "pki/workload-identity.key", remedy: "restore it from a backup",
			change: func(t *testing.T, _ world, path string) { t.Helper(); remove(t, path) },
		},
		"WorkloadIdentityKeyOfAnotherSort": {
			reason: "Tokens are signed with RSA, because every verifier knows that.",
			file:   "pki/workload-identity.key", remedy: "restore it from a backup",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				write(t, path, read(t, w.path("pki", "service-account.key")))
			},
		},
		"PKIGone": {
			reason: "Where a garden has lived, a new identity would lock everybody out of it.",
			file:   "pki", remedy: "restore it from a backup",
			change: func(t *testing.T, _ world, path string) {
				t.Helper()
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			},
		},
		"Layout": {
			reason: "Without the layout's version nobody knows how to read the rest.",
			file:   "layout", change: overwrite("first\n"), remedy: "restore it from a backup",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ensure(t, names())
			path := w.path(tc.file)
			tc.change(t, w, path)
			before := tree(t, w.dir)

			_, err := identity.Ensure(w.dir, names(), w.clk)

			corrupt, ok := errors.AsType[*identity.CorruptError](err)
			if !ok || corrupt.File != path {
				t.Fatalf("%s\nEnsure(...) = %v, want a CorruptError of %q", tc.reason, err, path)
			}
			for _, want := range []string{path, tc.remedy} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nEnsure(...) = %q, want it to contain %q", tc.reason, err, want)
				}
			}
			if diff := cmp.Diff(before, tree(t, w.dir)); diff != "" {
				t.Errorf("%s\nA refused start changes nothing (-before +after):\n%s", tc.reason, diff)
			}
			if lock, err := identity.LockDirectory(w.dir); err != nil {
				t.Errorf("A failed start must not keep the directory: %v", err)
			} else if err := lock.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}
