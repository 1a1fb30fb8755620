// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

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
		force   bool
		current string
		servers map[string]string
		users   []string
	}{
		"NoFile": {
			reason:  "A file that is not there is made.",
			servers: map[string]string{"garden": "https://garden:6443"},
			users:   []string{"garden"},
		},
		"Others": {
			reason:  "What belongs to others stays, what has our name is replaced if that is wanted.",
			before:  existing,
			force:   true,
			current: "home",
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
			before, err := identity.MergeKubeconfig(path, access().Kubeconfig(), tc.force)
			if err != nil || before != tc.current {
				t.Fatalf("%s\nMergeKubeconfig(...) = %q, %v, want %q", tc.reason, before, err, tc.current)
			}
			if before, err := identity.MergeKubeconfig(path, access().Kubeconfig(), false); err != nil || before != "garden" {
				t.Fatalf("The second time changes nothing.\nMergeKubeconfig(...) = %q, %v", before, err)
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

// TestMergeKubeconfigOther merges into a file that has the name for something else.
func TestMergeKubeconfigOther(t *testing.T) {
	t.Parallel()
	one, two, three := newGarden(t, names()).Authorities.CABundle(), newGarden(t, names()).Authorities.CABundle(), newGarden(t, names()).Authorities.CABundle()
	entry := func(change func(c *clientcmdapi.Config)) *clientcmdapi.Config {
		a := access()
		a.CABundle = slices.Concat(one, two)
		c := a.Kubeconfig()
		change(c)
		return c
	}
	cases := map[string]struct {
		reason string
		before *clientcmdapi.Config
		want   string
	}{
		"Same": {"It is ours.", entry(func(*clientcmdapi.Config) {}), ""},
		"Rotation": {"An authority is common while it is changed.", entry(func(c *clientcmdapi.Config) {
			c.Clusters["garden"].CertificateAuthorityData = slices.Concat(two, three)
		}), ""},
		"Renewed": {"A certificate of ours is replaced.", entry(func(c *clientcmdapi.Config) { c.AuthInfos["garden"].ClientCertificateData = []byte("old") }), ""},
		"Server": {
			"It is another garden.", entry(func(c *clientcmdapi.Config) { c.Clusters["garden"].Server = "https://old:6443" }),
			`cluster "garden" is at https://old:6443 and not at https://garden:6443`,
		},
		"Authority": {
			"All gardens are local ones on their machines.", entry(func(c *clientcmdapi.Config) { c.Clusters["garden"].CertificateAuthorityData = three }),
			`cluster "garden" at https://garden:6443 has another certificate authority`,
		},
		"Unverified": {
			"A cluster without an authority is not known to be ours.", entry(func(c *clientcmdapi.Config) { c.Clusters["garden"].CertificateAuthorityData = nil }),
			"has another certificate authority",
		},
		"Context": {
			"A context may be for others.", entry(func(c *clientcmdapi.Config) { delete(c.Clusters, "garden"); c.Contexts["garden"].Cluster = "home" }),
			`context "garden" is user "garden" at cluster "home"`,
		},
		"User": {
			"So may a user.", entry(func(c *clientcmdapi.Config) { delete(c.Clusters, "garden"); delete(c.Contexts, "garden") }),
			`user "garden" is for a cluster of another name`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config")
			if err := identity.WriteKubeconfig(path, tc.before); err != nil {
				t.Fatal(err)
			}
			before := read(t, path)
			_, err := identity.MergeKubeconfig(path, entry(func(*clientcmdapi.Config) {}), false)
			if tc.want == "" {
				if err != nil {
					t.Errorf("%s\nMergeKubeconfig(...) = %v", tc.reason, err)
				}
				return
			}
			if !errors.Is(err, identity.ErrOtherEntry) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nMergeKubeconfig(...) = %v, want %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(string(before), string(read(t, path))); diff != "" {
				t.Errorf("%s\nNothing is written (-want +got):\n%s", tc.reason, diff)
			}
			if _, err := identity.MergeKubeconfig(path, entry(func(*clientcmdapi.Config) {}), true); err != nil {
				t.Errorf("It can be forced.\nMergeKubeconfig(...) = %v", err)
			}
		})
	}
}

func TestMergeKubeconfigBroken(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "config")
	write(t, path, []byte("{"))
	_, err := identity.MergeKubeconfig(path, access().Kubeconfig(), true)
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
