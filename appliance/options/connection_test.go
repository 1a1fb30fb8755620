// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func TestConnectionRESTConfig(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	kubeconfig := func(path, server string) string {
		t.Helper()
		path = filepath.Join(dir, path)
		a := identity.Access{Name: "one", Server: server, Token: "t"}
		if err := identity.WriteKubeconfig(path, a.Kubeconfig()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flag := kubeconfig("flag", "https://flag")
	environment := kubeconfig("environment", "https://environment")
	dataDir := filepath.Dir(kubeconfig("data/admin.kubeconfig", "https://data"))

	cases := map[string]struct {
		reason      string
		given       options.Connection
		environment string
		want        string
		is          error
		says        string
	}{
		"Flag": {
			reason:      "The flag wins over everything.",
			given:       options.Connection{Kubeconfig: flag, DataDir: dataDir},
			environment: environment,
			want:        "https://flag",
		},
		"DataDir": {
			reason:      "Who names the data directory means it.",
			given:       options.Connection{DataDir: dataDir},
			environment: environment,
			want:        "https://data",
		},
		"Environment": {
			reason:      "The variable that kubectl knows counts here as well.",
			environment: environment,
			want:        "https://environment",
		},
		"EnvironmentList": {
			reason:      "The variable may hold several files.",
			environment: filepath.Join(dir, "none") + ":" + environment,
			want:        "https://environment",
		},
		"NoGarden": {
			reason: "A directory without a garden is named.",
			given:  options.Connection{DataDir: filepath.Join(dir, "none")},
			is:     options.ErrNoGarden,
			says:   filepath.Join(dir, "none", "admin.kubeconfig"),
		},
		"NoFile": {
			reason: "A file that was named has to be there.",
			given:  options.Connection{Kubeconfig: filepath.Join(dir, "none")},
			is:     cmpopts.AnyError,
			says:   filepath.Join(dir, "none"),
		},
		"NoContext": {
			reason: "A context that was named has to be there.",
			given:  options.Connection{Kubeconfig: flag, Context: "two"},
			is:     cmpopts.AnyError,
			says:   `context "two" does not exist`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := tc.given.RESTConfig(func(key string) string {
				if key == "KUBECONFIG" {
					return tc.environment
				}
				return ""
			})
			if diff := cmp.Diff(tc.is, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nRESTConfig(...) error (-want +got):\n%s", tc.reason, diff)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s\nRESTConfig(...) = %q, want it to contain %q", tc.reason, err, tc.says)
				}
				return
			}
			if diff := cmp.Diff(tc.want, config.Host); diff != "" {
				t.Errorf("%s\nRESTConfig(...).Host (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
