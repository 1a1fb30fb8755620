// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/terrarium-garden/terrarium/appliance/options"
)

// layered completes the files of etc and args.
func layered(t *testing.T, etc map[string]string, args ...string) (options.CompletedServer, error) {
	t.Helper()
	disk := fstest.MapFS{}
	for name, content := range etc {
		disk["etc/"+name] = &fstest.MapFile{Data: []byte(header + content)}
	}
	o := options.Server{DefaultFile: "etc/server.yaml"}
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatalf("Parse(%q) = %v", args, err)
	}
	return o.Complete(filesIn(disk))
}

func TestLayers(t *testing.T) {
	t.Parallel()
	const file, dropIn, later = "server.yaml", "server.yaml.d/10-address.yaml", "server.yaml.d/20-later.yaml"
	cases := map[string]struct {
		reason string
		etc    map[string]string
		args   []string
		want   map[string]string
	}{
		"Default file": {
			reason: "the default file is used without --config",
			etc:    map[string]string{file: "listen: :7443\n"},
			want:   map[string]string{"listen": `":7443" from etc/server.yaml`, "logLevel": `"info" from default`},
		},
		"No file": {
			reason: "the default file does not have to exist",
			want:   map[string]string{"listen": `":6443" from default`},
		},
		"Drop-ins alone": {
			reason: "a drop-in counts without the file",
			etc:    map[string]string{dropIn: "listen: :7443\n"},
			want:   map[string]string{"listen": `":7443" from etc/` + dropIn},
		},
		"Other file": {
			reason: "with --config, neither the default file nor its drop-ins count",
			etc:    map[string]string{file: "listen: :1\n", dropIn: "logLevel: debug\n", "other.yaml": "logFormat: json\n"},
			args:   []string{"--config=etc/other.yaml"},
			want:   map[string]string{"listen": `":6443" from default`, "logLevel": `"info" from default`, "logFormat": `"json" from etc/other.yaml`},
		},
		"Merged in order": {
			reason: "objects are merged, lists replaced, null is the default, the last name wins, and other files do not count",
			etc: map[string]string{
				file:                   "externalAddresses: [a, b]\ntokens: {defaultLifetime: 2h, maxServiceAccountTokenLifetime: 5h}\nlogLevel: debug\n",
				dropIn:                 "externalAddresses: [c]\ntokens: {defaultLifetime: 3h}\nlogLevel: error\n",
				later:                  "tokens: {defaultLifetime: 4h}\nlogLevel: null\n",
				"server.yaml.d/30.txt": "listen: :1\n",
			},
			want: map[string]string{
				"externalAddresses":                     `["c"] from etc/` + dropIn,
				"tokens.defaultLifetime":                `"4h0m0s" from etc/` + later,
				"tokens.maxServiceAccountTokenLifetime": `"5h0m0s" from etc/` + file,
				"logLevel":                              `"info" from default`,
				"listen":                                `":6443" from default`,
			},
		},
		"Flags over drop-ins": {
			reason: "a flag takes precedence over all files",
			etc:    map[string]string{file: "listen: :1\n", dropIn: "externalAddresses: [c]\n"},
			args:   []string{"--listen=:2", "--external-address=d"},
			want:   map[string]string{"listen": `":2" from --listen`, "externalAddresses": `["d"] from --external-address`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := layered(t, tc.etc, tc.args...)
			if err != nil {
				t.Fatalf("%s\nComplete(...) = %v", tc.reason, err)
			}
			values, err := options.Values(options.WithoutSecrets(c.Configuration()), c.Origin)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, v := range values {
				if _, wanted := tc.want[v.Path]; wanted {
					got[v.Path] = v.Value + " from " + v.Origin
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLayersNameTheFile(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		etc    map[string]string
		want   string
	}{
		"Unknown field": {
			reason: "each file is checked alone, and the error names it",
			etc:    map[string]string{"server.yaml": "listen: :1\n", "server.yaml.d/a.yaml": "lisen: :2\n"},
			want:   `configuration file "etc/server.yaml.d/a.yaml": decode server configuration: unknown field "lisen"`,
		},
		"Wrong value": {
			reason: "a wrong value of the result is named with the file that has set it",
			etc:    map[string]string{"server.yaml": "tokens: {defaultLifetime: 1h}\n", "server.yaml.d/a.yaml": "tokens: {defaultLifetime: 1m}\n"},
			want:   "etc/server.yaml.d/a.yaml: tokens.defaultLifetime: 1m0s is not between",
		},
		"Wrong element": {
			reason: "so is an element of a list",
			etc:    map[string]string{"server.yaml": "listen: :1\n", "server.yaml.d/a.yaml": "externalAddresses: [a, 'b:1']\n"},
			want:   `etc/server.yaml.d/a.yaml: externalAddresses[1]: "b:1" is neither`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := layered(t, tc.etc)
			var all []string
			if err != nil {
				all = []string{err.Error()}
			} else {
				flags, file := c.Validate()
				all = texts(append(flags, file...))
			}
			text := strings.Join(all, "\n")
			if !strings.Contains(text, tc.want) {
				t.Errorf("%s\ngot %q, want it to contain %q", tc.reason, text, tc.want)
			}
		})
	}
}
