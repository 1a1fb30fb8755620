// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func TestKubeconfig(t *testing.T) {
	t.Parallel()

	g := startGarden(t)
	const existing = "other"
	cases := map[string]struct {
		reason      string
		args        []string
		environment string // name of the file in $KUBECONFIG
		exists      string // a file that is there before
		file        string // where the kubeconfig is afterwards; the output if empty
		context     string
		server      string
		contexts    int
	}{
		"Print": {
			reason: "Without flags it is printed, and points to this machine.", context: "terrarium", server: g.url, contexts: 1,
		},
		"Named": {
			reason: "Names and address can be chosen.", args: []string{"--context", "garden", "--server", "https://garden.example.org/"},
			context: "garden", server: "https://garden.example.org", contexts: 1,
		},
		"File": {
			reason: "It can be written to a new file.", args: []string{"--output", "DIR/new/config"},
			file: "new/config", context: "terrarium", server: g.url, contexts: 1,
		},
		"MergeFile": {
			reason: "It can be merged into a file.", args: []string{"--merge", "-o", "DIR/config"}, exists: "config",
			file: "config", context: "terrarium", server: g.url, contexts: 2,
		},
		"MergeEnvironment": {
			reason: "Merging finds the file as kubectl does.", args: []string{"--merge"}, environment: "env", exists: "env",
			file: "env", context: "terrarium", server: g.url, contexts: 2,
		},
		"MergeHome": {
			reason: "Or makes the one in the home directory.", args: []string{"--merge"},
			file: ".kube/config", context: "terrarium", server: g.url, contexts: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := t.TempDir(), g.world()
			w.environment["HOME"] = dir
			if tc.environment != "" {
				w.environment["KUBECONFIG"] = filepath.Join(dir, tc.environment)
			}
			if tc.exists != "" {
				before := identity.Access{Name: existing, Server: "https://other"}.Kubeconfig()
				if err := identity.WriteKubeconfig(filepath.Join(dir, tc.exists), before); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"kubeconfig", "--data-dir", g.Dir}
			for _, a := range tc.args {
				args = append(args, strings.ReplaceAll(a, "DIR", dir))
			}
			r := w.run(t, args...)
			if r.status != 0 {
				t.Fatalf("%s\nstatus = %d, errors = %q", tc.reason, r.status, r.errors)
			}
			data := []byte(r.out)
			if tc.file != "" {
				data = checkFile(t, filepath.Join(dir, tc.file))
				if r.out != "" {
					t.Errorf("%s\nA file that is written is not printed as well.\noutput = %q", tc.reason, r.out)
				}
			}
			config, err := clientcmd.Load(data)
			if err != nil {
				t.Fatal(err)
			}
			if config.CurrentContext != tc.context || len(config.Contexts) != tc.contexts {
				t.Errorf("%s\ncurrent context = %q of %d, want %q of %d", tc.reason, config.CurrentContext, len(config.Contexts), tc.context, tc.contexts)
			}
			got := identity.Access{
				Name: tc.context, Server: config.Clusters[tc.context].Server, CABundle: config.Clusters[tc.context].CertificateAuthorityData,
				CertPEM: config.AuthInfos[tc.context].ClientCertificateData, KeyPEM: config.AuthInfos[tc.context].ClientKeyData,
			}
			if diff := cmp.Diff(g.Certificates.AdminAccess(tc.context, tc.server), got); diff != "" {
				t.Errorf("%s\naccess (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func checkFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("A kubeconfig holds a key.\nmode of %q = %#o, want 0600", path, info.Mode().Perm())
	}
	return data
}

func TestKubeconfigErrors(t *testing.T) {
	t.Parallel()

	t.Run("NoGarden", func(t *testing.T) {
		t.Parallel()
		newWorld().golden(t, "kubeconfig/no-garden", "The directory that was looked into is named.", "kubeconfig", "--data-dir", "/none")
	})
	t.Run("FileExists", func(t *testing.T) {
		t.Parallel()
		g := startGarden(t)
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		w := g.world()
		w.names[path] = "<file>"
		w.golden(t, "kubeconfig/file-exists", "A file of the user's is not overwritten.", "kubeconfig", "--data-dir", g.Dir, "--output", path)
		if data, err := os.ReadFile(path); err != nil || string(data) != "mine" {
			t.Errorf("A file of the user's is not overwritten.\nfile = %q, %v", data, err)
		}
	})
	t.Run("OtherGarden", func(t *testing.T) {
		t.Parallel()
		g, other := startGarden(t), startGarden(t)
		path := filepath.Join(t.TempDir(), "config")
		merge := func(g *garden, args ...string) result {
			return g.world().run(t, append([]string{"kubeconfig", "--data-dir", g.Dir, "--merge", "--output", path}, args...)...)
		}
		if r := merge(other); r.status != 0 {
			t.Fatal(r.errors)
		}
		r := merge(g)
		if r.status != 1 || !strings.Contains(r.errors, `cluster "terrarium" is at `+other.url) || !strings.Contains(r.errors, "choose another name with --context NAME") {
			t.Errorf("The access to another garden is not replaced.\nstatus = %d, %s", r.status, r.errors)
		}
		r = merge(g, "--context", "second")
		if r.status != 0 || !strings.Contains(r.errors, "To go back: kubectl config use-context terrarium\n") {
			t.Errorf("Both can be in one file.\nstatus = %d, %s", r.status, r.errors)
		}
		if r := merge(g, "--force"); r.status != 0 {
			t.Errorf("It can be forced.\nstatus = %d, %s", r.status, r.errors)
		}
		config, err := clientcmd.LoadFromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for name, c := range config.Clusters {
			got[name] = c.Server
		}
		if diff := cmp.Diff(map[string]string{"terrarium": g.url, "second": g.url}, got); diff != "" {
			t.Errorf("servers (-want +got):\n%s", diff)
		}
	})
	t.Run("Incomplete", func(t *testing.T) {
		t.Parallel()
		g := startGarden(t)
		if err := os.WriteFile(identity.AdminKubeconfigPath(g.Dir), []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		g.world().golden(t, "kubeconfig/incomplete", "A file that was cut tells what to do.", "kubeconfig", "--data-dir", g.Dir)
	})
}
