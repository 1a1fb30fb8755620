// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGardenletRefusesCommandLine(t *testing.T) {
	t.Parallel()
	token := "T10" + strings.Repeat("a", 64) + "::abcdef.0123456789abcdef"
	file := func(content string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	type outcome struct {
		Status                 int
		Explained, SecretShown bool
	}
	join := []string{"gardenlet", "join", "https://garden.example.org:6443"}
	cases := map[string]struct {
		reason string
		args   []string
		status int
		want   string
	}{
		"NoConfig":      {reason: "the role needs a configuration", args: []string{"gardenlet"}, status: 2, want: "--config"},
		"UnknownVerb":   {reason: "a verb that does not exist has a neighbour", args: []string{"gardenlet", "joyn"}, status: 2, want: `did you mean "join"`},
		"ConfigMissing": {reason: "a configuration that is not there is named", args: []string{"gardenlet", "--config", "/nowhere.yaml"}, status: 1, want: "/nowhere.yaml"},
		"UnknownField": {
			reason: "an unknown field is named by its path",
			args:   []string{"gardenlet", "--config", file("apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\ncontrollers: {seed: {colour: green}}\n")},
			status: 1, want: "controllers.seed.colour",
		},
		"WrongLevel": {
			reason: "a wrong level of the configuration is explained",
			args:   []string{"gardenlet", "--config", file("apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\nlogLevel: loud\n")},
			status: 1, want: "loud",
		},
		"NoSeedConfig": {
			reason: "a configuration without a seed is refused",
			args:   []string{"gardenlet", "--config", file("apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\n")},
			status: 1, want: "seedConfig: required",
		},
		"NoServer":    {reason: "a join needs a garden", args: []string{"gardenlet", "join"}, status: 2, want: "SERVER_URL"},
		"NoToken":     {reason: "and a token", args: append(join, "--name", "one", "--provider", "local"), status: 2, want: "--token: required"},
		"Malformed":   {reason: "which has a form", args: append(join, "--token", "rubbish", "--name", "one", "--provider", "local"), status: 2, want: "T10"},
		"Unpinned":    {reason: "and the hash of a CA", args: append(join, "--token", "abcdef.0123456789abcdef", "--name", "one", "--provider", "local"), status: 2, want: "hash"},
		"EmptyFile":   {reason: "a file without a token is named", args: append(join, "--token-file", file("\n"), "--name", "one", "--provider", "local"), status: 1, want: "is empty"},
		"NoName":      {reason: "a seed has a name", args: append(join, "--token", token, "--provider", "local"), status: 2, want: "--name: required"},
		"WrongMode":   {reason: "there are two modes", args: append(join, "--token", token, "--name", "one", "--provider", "local", "--mode", "magic"), status: 2, want: "--mode"},
		"WrongOutput": {reason: "manifests are YAML", args: append(join, "--token", token, "--name", "one", "--provider", "local", "--dry-run", "-o", "xml"), status: 2, want: "--output"},
		"TwoTokens": {
			reason: "one token is enough", args: append(join, "--token", token, "--token-file", "/nowhere", "--name", "one", "--provider", "local"),
			status: 2, want: "--token-file: cannot be used together with --token",
		},
		"NoProcess": {
			reason: "a Deployment has no file of this machine", args: append(join, "--token", token, "--name", "one", "--provider", "local", "--write-config", "x"),
			status: 2, want: "--write-config: requires --mode process",
		},
		"NoLog": {
			reason: "and no log of this process", args: append(join, "--token", token, "--name", "one", "--provider", "local", "--log-format", "json"),
			status: 2, want: "--log-format: requires --mode process",
		},
		"NoImage": {
			reason: "a process has no image", args: append(join, "--token", token, "--name", "one", "--provider", "local", "--mode", "process", "--image", "x"),
			status: 2, want: "--image: cannot be used with --mode process",
		},
		"NoManifests": {
			reason: "only a dry run prints", args: append(join, "--token", token, "--name", "one", "--provider", "local", "-o", "yaml"),
			status: 2, want: "--output: requires --dry-run",
		},
		"LeaveTwice":    {reason: "a dry run asks nothing", args: []string{"gardenlet", "leave", "--dry-run", "--yes"}, status: 2, want: "--yes"},
		"LeaveInNoTime": {reason: "leaving takes time", args: []string{"gardenlet", "leave", "--timeout", "0s"}, status: 2, want: "--timeout"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newWorld().run(t, tc.args...)
			got := outcome{Status: r.status, Explained: strings.Contains(r.errors, tc.want), SecretShown: strings.Contains(r.errors, "0123456789abcdef")}
			if diff := cmp.Diff(outcome{Status: tc.status, Explained: true}, got); diff != "" {
				t.Errorf("%s\n%v (-want +got):\n%s\nwant %q in\n%s", tc.reason, tc.args, diff, tc.want, r.errors)
			}
		})
	}
}
