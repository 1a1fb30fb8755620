// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// etc writes configuration files into a folder and returns a world in which they are used by default.
func etc(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := newWorld()
	w.configDir = t.TempDir()
	w.names[w.configDir] = "<etc>"
	for name, content := range files {
		path := filepath.Join(w.configDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

const (
	serverHeader    = "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\n"
	gardenletHeader = "apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\n"
)

func TestConfigShow(t *testing.T) {
	t.Parallel()
	w := etc(t, map[string]string{
		"server.yaml":             serverHeader + "listen: :7443\ndatastore: {endpoint: 'postgres://garden:geheim@db/garden?password=geheim'}\n",
		"server.yaml.d/name.yaml": serverHeader + "externalAddresses: [garden.example.org]\n",
		"gardenlet.yaml":          gardenletHeader + "seedConfig: {metadata: {name: basement}}\n",
	})
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"Table": {
			reason: "each value has its origin, in front of what may be long",
			args:   []string{"server", "-o", "table", "--log-level", "debug"},
			want: []string{
				"PATH ORIGIN VALUE", "listen " + w.configDir + `/server.yaml ":7443"`, "externalAddresses " + w.configDir + `/server.yaml.d/name.yaml ["garden.example.org"]`,
				`logLevel --log-level "debug"`, `logFormat default "text"`, "datastore.endpoint " + w.configDir + `/server.yaml "postgres://[redacted]"`,
			},
		},
		"YAML":      {reason: "the output is a configuration file", args: []string{"server"}, want: []string{"kind: ServerConfiguration", "listen: :7443"}},
		"Gardenlet": {reason: "a gardenlet has a file as well", args: []string{"gardenlet", "-o", "table"}, want: []string{"seedConfig.metadata.name " + w.configDir + `/gardenlet.yaml "basement"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := w.run(t, append([]string{"config", "show"}, tc.args...)...)
			got := strings.ReplaceAll(strings.Join(strings.Fields(r.out), " "), "  ", " ")
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s\nconfig show %q = status %d, %s\n%s\nwant it to contain %q", tc.reason, tc.args, r.status, r.errors, r.out, want)
				}
			}
			if strings.Contains(r.out+r.errors, "geheim") {
				t.Errorf("A password is printed:\n%s%s", r.out, r.errors)
			}
		})
	}
}

func TestConfigValidateDropIns(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		files  map[string]string
		args   []string
		status int
		want   string
	}{
		"None": {reason: "without a file there is nothing to validate", args: nil, status: 1, want: "neither"},
		"Both": {
			reason: "without an argument, the files of both roles are validated",
			files: map[string]string{
				"server.yaml":    serverHeader,
				"gardenlet.yaml": gardenletHeader + "seedConfig: {metadata: {name: basement}}\ngardenClientConnection: {kubeconfig: k}\n",
			},
			want: "GardenletConfiguration in",
		},
		"Drop-in completes": {
			reason: "a file is valid together with its drop-ins",
			files: map[string]string{
				"gardenlet.yaml":          gardenletHeader + "gardenClientConnection: {kubeconfig: k}\n",
				"gardenlet.yaml.d/s.yaml": gardenletHeader + "seedConfig: {metadata: {name: basement}}\n",
			},
			want: `gardenlet.yaml.d/s.yaml" is valid`,
		},
		"Drop-in of the other role": {
			reason: "a drop-in has the kind of its file",
			files:  map[string]string{"server.yaml": serverHeader, "server.yaml.d/a.yaml": gardenletHeader},
			status: 1, want: "wrong kind of configuration",
		},
		"Files": {
			reason: "files that are named have to be there",
			files:  map[string]string{"server.yaml": serverHeader + "audit: {policyFile: /none/audit.yaml}\noidc: {issuerURL: https://x.y, clientID: a, clientSecretFile: /}\n"},
			status: 1, want: `server.yaml": audit.policyFile: stat /none/audit.yaml: no such file or directory` + "\n  " + `oidc.clientSecretFile: "/" is a directory`,
		},
		"Files of what is off": {
			reason: "but not those that nobody reads",
			files:  map[string]string{"server.yaml": serverHeader + "audit: {policyFile: /none/audit.yaml, disabled: true}\n"},
			want:   "is valid",
		},
		"Policy": {
			reason: "nor is everything a policy",
			files:  map[string]string{"server.yaml": serverHeader + "audit: {policyFile: /dev/null}\n"},
			status: 1, want: "audit.policyFile: audit policy: ",
		},
		"Wrong value in drop-in": {
			reason: "values of drop-ins are checked",
			files:  map[string]string{"server.yaml": serverHeader, "server.yaml.d/a.yaml": serverHeader + "listen: nowhere\n"},
			status: 1, want: `server.yaml.d/a.yaml": listen: "nowhere"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := etc(t, tc.files).run(t, append([]string{"config", "validate"}, tc.args...)...)
			if r.status != tc.status || !strings.Contains(r.errors, tc.want) {
				t.Errorf("%s\nstatus = %d, want %d\n%s\nwant it to contain %q", tc.reason, r.status, tc.status, r.errors, tc.want)
			}
		})
	}
}

func TestGardenletDefaultFile(t *testing.T) {
	t.Parallel()
	w := etc(t, map[string]string{"gardenlet.yaml": gardenletHeader + "logLevel: loud\n"})
	if r := w.run(t, "gardenlet"); r.status != 1 || !strings.Contains(r.errors, "loud") {
		t.Errorf("A gardenlet reads its default file.\nstatus = %d, errors = %s", r.status, r.errors)
	}
}
