// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

const header = "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\n"

// complete parses args and completes them with a file server.yaml of the given content.
func complete(t *testing.T, file string, args ...string) (options.CompletedServer, error) {
	t.Helper()
	var o options.Server
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatalf("Parse(%q) = %v", args, err)
	}
	disk := fstest.MapFS{"server.yaml": {Data: []byte(header + file)}}
	return o.Complete(filesIn(disk))
}

// filesIn reads the files of a file system in memory.
func filesIn(disk fstest.MapFS) options.Files {
	return options.Files{Read: disk.ReadFile, List: disk.ReadDir}
}

func TestServerComplete(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		file   string
		args   []string
		want   func(c *gardenconfigv1alpha1.ServerConfiguration)
	}{
		"Nothing": {
			reason: "Without flags and file, the defaults count.",
			want:   func(*gardenconfigv1alpha1.ServerConfiguration) {},
		},
		"Flags": {
			reason: "Each flag sets its field.",
			args: []string{
				"--data-dir=/data", "--listen=127.0.0.1:1", "--external-address=a,b", "--external-address=c",
				"--datastore-endpoint=postgres://x/y", "--log-level=debug", "--log-format=json",
			},
			want: func(c *gardenconfigv1alpha1.ServerConfiguration) {
				c.DataDir, c.Listen, c.ExternalAddresses = "/data", "127.0.0.1:1", []string{"a", "b", "c"}
				c.Datastore.Endpoint, c.LogLevel, c.LogFormat = "postgres://x/y", "debug", "json"
			},
		},
		"File": {
			reason: "The file sets fields, the defaults of flags do not undo it.",
			file:   "dataDir: /file\nlisten: :7443\nlogFormat: json\ntokens: {defaultLifetime: 2h}\n",
			args:   []string{"--config=server.yaml"},
			want: func(c *gardenconfigv1alpha1.ServerConfiguration) {
				c.DataDir, c.Listen, c.LogFormat = "/file", ":7443", "json"
				c.Tokens.DefaultLifetime.Duration = 2 * time.Hour
			},
		},
		"FlagWins": {
			reason: "A flag wins over the file, also where it says the default.",
			file:   "listen: :7443\nexternalAddresses: [old]\nlogLevel: debug\n",
			args:   []string{"--config=server.yaml", "--listen=:6443", "--external-address=new"},
			want: func(c *gardenconfigv1alpha1.ServerConfiguration) {
				c.ExternalAddresses, c.LogLevel = []string{"new"}, "debug"
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := complete(t, tc.file, tc.args...)
			if err != nil {
				t.Fatalf("%s\nComplete(...) = %v", tc.reason, err)
			}
			var want gardenconfigv1alpha1.ServerConfiguration
			want.SetDefaults()
			tc.want(&want)
			got := c.Configuration()
			got.TypeMeta = want.TypeMeta
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("%s\nConfiguration() (-want +got):\n%s", tc.reason, diff)
			}
			if flags, file := c.Validate(); len(flags)+len(file) > 0 {
				t.Errorf("%s\nValidate() = %v, %v, want none", tc.reason, flags, file)
			}
		})
	}
}

func TestServerCompleteRefusesFile(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		file   string
		args   []string
		says   []string
	}{
		"Missing": {
			reason: "A file that was named has to be there.",
			args:   []string{"--config=other.yaml"},
			says:   []string{"--config", "other.yaml", "file does not exist"},
		},
		"UnknownField": {
			reason: "A slip of the pen is told by its path.",
			file:   "datastore:\n  endpont: x\n",
			args:   []string{"--config=server.yaml"},
			says:   []string{`"server.yaml"`, `unknown field "datastore.endpont"`},
		},
		"WrongType": {
			reason: "So is a value of the wrong type.",
			file:   "controllers:\n  project:\n    concurrentSyncs: many\n",
			args:   []string{"--config=server.yaml"},
			says:   []string{`"controllers.project.concurrentSyncs"`, "want a whole number"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := complete(t, tc.file, tc.args...)
			for _, want := range tc.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nComplete(...) = %v, want it to contain %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestServerValidate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		file   string
		args   []string
		flags  []string
		errors []string
	}{
		"AnyAddress": {
			reason: "An empty host is every address, and port 0 one that is free.",
			args:   []string{"--listen=:0", "--external-address=Garden.Example.org,2001:db8::1"},
		},
		"PortOutOfRange": {
			reason: "A port has 16 bits.",
			args:   []string{"--listen=:70000"},
			flags:  []string{`--listen: ":70000": port "70000" is not a number from 0 to 65535`},
		},
		"PortNoNumber": {
			reason: "Names of services are not looked up.",
			args:   []string{"--listen=:https"},
			flags:  []string{`--listen: ":https": port "https" is not a number from 0 to 65535`},
		},
		"NoPort": {
			reason: "A port alone or an address alone is a common slip.",
			args:   []string{"--listen=6443"},
			flags:  []string{`--listen: "6443" is not of the form address:port, such as :6443 or 192.0.2.1:6443`},
		},
		"ListenOnName": {
			reason: "A server binds to addresses.",
			args:   []string{"--listen=garden.example.org:6443"},
			flags:  []string{`--listen: "garden.example.org:6443": "garden.example.org" is not an IP address`},
		},
		"ExternalAddress": {
			reason: "A URL or a port does not go into a certificate.",
			args:   []string{"--external-address=https://a", "--external-address=b:1"},
			flags: []string{
				`--external-address: "https://a" is neither an IP address nor a host name; it must not contain a port or https://`,
				`--external-address: "b:1" is neither an IP address nor a host name; it must not contain a port or https://`,
			},
		},
		"Endpoint": {
			reason: "The URL may hold a password and is not repeated.",
			args:   []string{"--datastore-endpoint=oracle://user:password@x"},
			flags:  []string{"--datastore-endpoint: must be a URL with one of the schemes postgres, postgresql, mysql, http, https"},
		},
		"NATS": {
			reason: "A datastore that could be connected but must not be used is refused before anything starts.",
			args:   []string{"--datastore-endpoint=nats://x"},
			flags:  []string{"--datastore-endpoint: " + kine.ErrNATS.Error()},
		},
		"EmptyDataDir": {
			reason: "An unset variable gives an empty path.",
			args:   []string{"--data-dir="},
			flags:  []string{"--data-dir: required"},
		},
		"DataDirCharacters": {
			reason: "The database's URL cannot hold these.",
			args:   []string{"--data-dir=/a?b"},
			flags:  []string{`--data-dir: "/a?b" contains ?, # or %, which the database does not support in a path`},
		},
		"Logging": {
			reason: "Each flag is named.",
			args:   []string{"--log-level=loud", "--log-format=xml"},
			flags: []string{
				`--log-level: "loud" is not debug, info or error`, `--log-format: "xml" is not text or json`,
			},
		},
		"FileNamesPath": {
			reason: "What comes from the file is named by file and path, what comes from a flag by the flag.",
			args:   []string{"--config=server.yaml", "--log-level=loud"},
			file: `listen: ":70000"
externalAddresses: [ok, "not ok"]
memory: {limit: 100Mi}
tokens: {defaultLifetime: 5m}
certificates: {clientLifetime: 1s}
controllers:
  project: {concurrentSyncs: 0}
  seed: {monitorPeriod: 0s, syncPeriod: 2h}
  cacheSyncTimeout: 0s
scheduler: {candidateDeterminationStrategy: Nearest, concurrentSyncs: -1}
`,
			flags: []string{`--log-level: "loud" is not debug, info or error`},
			errors: []string{
				`server.yaml: listen: ":70000": port "70000" is not a number from 0 to 65535`,
				`server.yaml: externalAddresses[1]: "not ok" is neither an IP address nor a host name; it must not contain a port or https://`,
				`server.yaml: memory.limit: 100Mi is below 256Mi, the minimum for a garden`,
				`server.yaml: tokens.defaultLifetime: 5m0s is not between 10m and 24h`,
				`server.yaml: certificates.clientLifetime: 1s is not between 1h and 87600h`,
				`server.yaml: controllers.project.concurrentSyncs: 0 is less than 1`,
				`server.yaml: controllers.cacheSyncTimeout: 0s is not between 1s and 1h`,
				`server.yaml: controllers.seed.monitorPeriod: 0s is not between 1s and 24h`,
				`server.yaml: controllers.seed.syncPeriod: 2h0m0s is not between 100ms and 1h`,
				`server.yaml: scheduler.concurrentSyncs: -1 is less than 1`,
				`server.yaml: scheduler.candidateDeterminationStrategy: "Nearest" is not SameRegion or MinimalDistance`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := complete(t, tc.file, tc.args...)
			if err != nil {
				t.Fatalf("%s\nComplete(...) = %v", tc.reason, err)
			}
			flags, file := c.Validate()
			if diff := cmp.Diff(tc.flags, texts(flags), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nValidate() of flags (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errors, texts(file), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nValidate() of the file (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func texts(errs []error) []string {
	out := make([]string, 0, len(errs))
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

func TestValidateServer(t *testing.T) {
	t.Parallel()

	var c gardenconfigv1alpha1.ServerConfiguration
	c.SetDefaults()
	if errs := options.ValidateServer(&c); len(errs) > 0 {
		t.Errorf("The defaults are valid.\nValidateServer(...) = %v", errs)
	}
	c.Listen = "x"
	errs := options.ValidateServer(&c)
	if got := errors.Join(errs...); got == nil || !strings.HasPrefix(got.Error(), `listen: "x" is not`) {
		t.Errorf("A value is named by its path.\nValidateServer(...) = %v", got)
	}
}

func TestValidateTokenLifetime(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		lifetime time.Duration
		want     string
	}{
		"Default":  {reason: "The default is in bounds.", lifetime: options.DefaultTokenLifetime},
		"Shortest": {reason: "The bounds belong to what is allowed.", lifetime: 10 * time.Minute},
		"Longest":  {reason: "The bounds belong to what is allowed.", lifetime: 24 * time.Hour},
		"TooShort": {
			reason:   "A token has to live until it was pasted.",
			lifetime: 10*time.Minute - time.Second, want: "9m59s is not between 10m and 24h",
		},
		"TooLong": {
			reason:   "A token that lies around is a risk.",
			lifetime: 24*time.Hour + time.Second, want: "24h0m1s is not between 10m and 24h",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := options.ValidateTokenLifetime(tc.lifetime); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nValidateTokenLifetime(%s) (-want +got):\n%s", tc.reason, tc.lifetime, diff)
			}
		})
	}
}
