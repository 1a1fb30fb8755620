// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const existing = `apiVersion: v1
kind: Config
clusters:
- {name: home, cluster: {server: "https://home:6443", certificate-authority: ca.crt}}
- {name: garden, cluster: {server: "https://old:6443"}}
contexts:
- {name: home, context: {cluster: home, user: me}}
users:
- {name: me, user: {token: mine}}
current-context: home
`

func access() identity.Access {
	return identity.Access{
		Name: "garden", Server: "https://garden:6443", CABundle: []byte("ca"), CertPEM: []byte("cert"), KeyPEM: []byte("key"),
		Namespace: "garden-dev",
	}
}

func TestMergeKubeconfig(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		before  string
		servers map[string]string
		users   []string
	}{
		"NoFile": {
			reason:  "A file that is not there is made.",
			servers: map[string]string{"garden": "https://garden:6443"},
			users:   []string{"garden"},
		},
		"Others": {
			reason:  "What belongs to others stays, what has our name is replaced.",
			before:  existing,
			servers: map[string]string{"garden": "https://garden:6443", "home": "https://home:6443"},
			users:   []string{"garden", "me"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "sub", "config")
			if tc.before != "" {
				target := filepath.Join(dir, "real")
				write(t, target, []byte(tc.before))
				if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, path); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second time changes nothing
				if err := identity.MergeKubeconfig(path, access().Kubeconfig()); err != nil {
					t.Fatalf("%s\nMergeKubeconfig(...) = %v", tc.reason, err)
				}
			}

			got, err := clientcmd.LoadFromFile(path)
			if err != nil {
				t.Fatal(err)
			}
			servers, users := map[string]string{}, map[string]bool{}
			for name, c := range got.Clusters {
				servers[name] = c.Server
			}
			for name := range got.AuthInfos {
				users[name] = true
			}
			if diff := cmp.Diff(tc.servers, servers); diff != "" {
				t.Errorf("%s\nclusters (-want +got):\n%s", tc.reason, diff)
			}
			for _, want := range tc.users {
				if !users[want] {
					t.Errorf("%s\nusers = %v, want %q among them", tc.reason, users, want)
				}
			}
			if got.CurrentContext != "garden" || got.Contexts["garden"].Namespace != "garden-dev" {
				t.Errorf("%s\ncurrent context = %q in %v", tc.reason, got.CurrentContext, got.Contexts["garden"])
			}
			if tc.before != "" {
				if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
					t.Errorf("A link stays a link.\nLstat(...) = %v, %v", info, err)
				}
				if got.Clusters["home"].CertificateAuthority != "ca.crt" {
					t.Errorf("Relative paths stay relative.\npath = %q", got.Clusters["home"].CertificateAuthority)
				}
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("A kubeconfig holds a key.\nmode = %#o, want 0600", info.Mode().Perm())
			}
		})
	}
}

func TestMergeKubeconfigBroken(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "config")
	write(t, path, []byte("{"))
	err := identity.MergeKubeconfig(path, access().Kubeconfig())
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("A file that cannot be read is named.\nMergeKubeconfig(...) = %v", err)
	}
	if got := string(read(t, path)); got != "{" {
		t.Errorf("A file that cannot be read is not overwritten.\nfile = %q", got)
	}
}

func TestWriteAdminKubeconfig(t *testing.T) {
	t.Parallel()

	g := newGarden(t, names())
	if err := g.Certificates.WriteAdminKubeconfig("https://127.0.0.1:6443"); err != nil {
		t.Fatalf("WriteAdminKubeconfig(...) = %v", err)
	}
	c, err := clientcmd.LoadFromFile(identity.AdminKubeconfigPath(g.Dir))
	if err != nil {
		t.Fatal(err)
	}
	got := identity.Access{
		Name: c.CurrentContext, Server: c.Clusters["terrarium"].Server, CABundle: c.Clusters["terrarium"].CertificateAuthorityData,
		CertPEM: c.AuthInfos["terrarium"].ClientCertificateData, KeyPEM: c.AuthInfos["terrarium"].ClientKeyData,
	}
	want := identity.Access{
		Name: "terrarium", Server: "https://127.0.0.1:6443", CABundle: g.Authorities.CABundle(), CertPEM: g.Certificates.Admin.CertPEM, KeyPEM: g.Certificates.Admin.KeyPEM,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The kubeconfig is complete in itself.\naccess (-want +got):\n%s", diff)
	}
}
