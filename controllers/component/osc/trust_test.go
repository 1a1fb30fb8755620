// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/controllers/component/osc"
)

// authority returns a certificate in PEM. Its key is not kept.
func authority(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// files are the contents of the files of a configuration below a folder, by name.
func files(t *testing.T, v osc.Values, dir string) map[string]string {
	t.Helper()
	o, err := osc.Render(v)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range o.Spec.Files {
		if name, below := strings.CutPrefix(f.Path, dir); below {
			found[name] = f.Content.Inline.Data
		}
	}
	return found
}

func TestCertificatesOfMachines(t *testing.T) {
	t.Parallel()
	profile, own := authority(t, "of the profile"), authority(t, "of the pool")
	v := values()
	plain := keyOf(t, v)
	if diff := cmp.Diff(map[string]string{}, files(t, v, "/var/lib/ca-certificates-local/")); diff != "" {
		t.Errorf("files of a pool without certificates (-want +got):\n%s", diff)
	}
	v.ProfileCABundle = new("left over from another time\n" + profile + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
	if key := keyOf(t, v); key != plain {
		t.Error("certificates of the profile replace the machines of all its shoots")
	}
	v.Pool.CABundle = new("# a comment $(touch /x)\n" + own + profile)
	if key := keyOf(t, v); key != plain {
		t.Error("the machines are replaced, although their agents bring them the certificates of their pool")
	}
	got := files(t, v, "/var/lib/ca-certificates-local/")
	for name := range got {
		if strings.Contains(name, "/") {
			t.Errorf("file %q is in another folder", name)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values([]string{profile, own})), slices.Sorted(maps.Values(got))); diff != "" {
		t.Errorf("each certificate has one file, and nothing else has (-want +got):\n%s", diff)
	}
}

// TestCertificatesOfOldObjects is about objects from before the API refused what is no certificate.
func TestCertificatesOfOldObjects(t *testing.T) {
	t.Parallel()
	v := values()
	v.Pool.CABundle = new(authority(t, "a") + "END\ntouch /x\n")
	_, err := osc.Render(v)
	if diff := cmp.Diff(osc.ErrSettings, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("error of Render(...) with more than certificates in the bundle of a pool (-want +got):\n%s", diff)
	}
}

// TestTrustScript runs the script as machines of several distributions do.
func TestTrustScript(t *testing.T) {
	t.Parallel()
	v := values()
	v.Pool.CABundle = new(authority(t, "a") + authority(t, "b"))
	script := files(t, v, "/var/lib/ssl/")["update-local-ca-certificates.sh"]
	for name, tc := range map[string]struct {
		reason, tool, folder, want string
	}{
		"Debian": {reason: "Debian and its like", tool: "update-ca-certificates", folder: "etc/ssl/certs", want: "usr/local/share/ca-certificates"},
		"SUSE":   {reason: "SUSE has the tool with another folder", tool: "update-ca-certificates", folder: "etc/pki/trust/anchors", want: "etc/pki/trust/anchors"},
		"RHEL":   {reason: "Red Hat has another tool", tool: "update-ca-trust", folder: "etc/pki", want: "etc/pki/ca-trust/source/anchors"},
		"None":   {reason: "without a tool, programs read the folder", folder: "etc/ssl/certs", want: "etc/ssl/certs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, bin, from := t.TempDir(), t.TempDir(), t.TempDir()
			for name, text := range files(t, v, "/var/lib/ca-certificates-local/") {
				put(t, filepath.Join(from, name), text, 0o600)
			}
			put(t, filepath.Join(root, tc.folder, "ca-certificates.crt"), "system\n", 0o600)
			if tc.tool != "" {
				put(t, filepath.Join(bin, tc.tool), "#!/bin/sh\necho ran >>"+root+"/ran\n", 0o700)
			}
			for _, tool := range []string{"mkdir", "cp", "grep", "cat"} {
				path, err := exec.LookPath(tool)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // A machine runs it at every start.
				command := exec.CommandContext(t.Context(), "/bin/sh", "-s")
				command.Stdin = strings.NewReader(script)
				command.Env = []string{"PATH=" + bin, "TRUST_FROM=" + from, "TRUST_ROOT=" + root}
				if told, err := command.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, told)
				}
			}
			found, err := filepath.Glob(filepath.Join(root, tc.want, "*[0-9a-f].crt"))
			if err != nil || len(found) < 2 {
				t.Errorf("%s: certificates %v, %v, want two in %s", tc.reason, found, err, tc.want)
			}
			_, err = os.Stat(filepath.Join(root, "ran"))
			if ran := err == nil; ran != (tc.tool != "") {
				t.Errorf("%s: the tool ran: %t", tc.reason, ran)
			}
			bundle, err := os.ReadFile(filepath.Join(root, tc.folder, "ca-certificates.crt"))
			if want := map[bool]int{true: 2, false: 0}[tc.tool == ""]; err != nil || bytes.Count(bundle, []byte("BEGIN CERTIFICATE")) != want {
				t.Errorf("%s: the bundle of the system has not %d certificates more: %v\n%s", tc.reason, want, err, bundle)
			}
		})
	}
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
