// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/install"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// world is what a command sees around it.
type world struct {
	stdin       string
	environment map[string]string
	now         time.Time
	configDir   string
	machine     *install.Machine
	// patience is how long a command may take; forever if it is zero.
	patience time.Duration
	// names are values that differ from run to run, and what stands for them in golden files.
	names map[string]string
}

func newWorld() *world {
	return &world{
		environment: map[string]string{},
		now:         time.Now(),
		names:       map[string]string{},
	}
}

// result is what a command leaves behind.
type result struct {
	status      int
	out, errors string
}

func (w *world) run(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	ctx := t.Context()
	if w.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.patience)
		defer cancel()
	}
	status := cli.Main(ctx, cli.Environment{
		In: strings.NewReader(w.stdin), Out: &out, Err: &errs,
		Getenv: func(name string) string { return w.environment[name] },
		Clock:  clocktesting.NewFakeClock(w.now), ConfigDir: w.configDir, Machine: w.machine,
	}, args)
	return result{status: status, out: out.String(), errors: errs.String()}
}

// golden compares a run with testdata/<name>.txt.
func (w *world) golden(t *testing.T, name, reason string, args ...string) result {
	t.Helper()
	r := w.run(t, args...)
	text := fmt.Sprintf("$ terrarium %s\nstatus %d\n--- output\n%s--- errors\n%s", strings.Join(args, " "), r.status, r.out, r.errors)
	for value, stands := range w.names {
		text = strings.ReplaceAll(text, value, stands)
	}
	text = strings.NewReplacer(build.KubernetesVersion(), "<kubernetes>", build.Version, "<version>",
		runtime.Version(), "<go>", build.Platform(), "<platform>").Replace(text)
	if strings.HasPrefix(name, "token/create") {
		for pattern, stands := range map[string]string{
			`\b[a-z2-7]{6}\.[a-z2-7]{16}\b`:    "<id>.<secret>",
			`Token [a-z2-7]{6}\b`:              "Token <id>",
			`("?id"?): "?[a-z2-7]{6}"?`:        `$1: <id>`,
			`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`: "<time>",
		} {
			text = regexp.MustCompile(pattern).ReplaceAllString(text, stands)
		}
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s\nterrarium %s (-want +got):\n%s", reason, strings.Join(args, " "), diff)
	}
	return r
}

// commands lists the paths of all commands below path, as the help tells them.
func commands(t *testing.T, path ...string) []string {
	t.Helper()
	all := []string{strings.Join(path, " ")}
	help := newWorld().run(t, append(path, "--help")...).out
	for _, name := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Z]`).FindAllStringSubmatch(help, -1) {
		all = append(all, commands(t, append(slices.Clone(path), name[1])...)...)
	}
	return all
}

func TestHelp(t *testing.T) {
	t.Parallel()

	found := commands(t)
	for _, known := range []string{"server", "token create", "config print-defaults"} {
		if !slices.Contains(found, known) {
			t.Errorf("The help lists every command.\ncommands = %q, want %q among them", found, known)
		}
	}
	for _, command := range found {
		t.Run("terrarium "+command, func(t *testing.T) {
			t.Parallel()
			name := "help/" + strings.ReplaceAll(strings.TrimSpace("terrarium "+command), " ", "-")
			newWorld().golden(t, name, "Help is read by people and quoted in documents.", append(strings.Fields(command), "--help")...)
		})
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
	}{
		"UnknownCommand":      {reason: "A slip of the pen is met with a guess.", args: "tokn"},
		"UnknownSubcommand":   {reason: "So is one further down.", args: "token creat"},
		"NothingLikeIt":       {reason: "Without a guess there is none.", args: "frobnicate"},
		"MissingSubcommand":   {reason: "A group alone does nothing; scripts must notice.", args: "token"},
		"RoleWithSubcommands": {reason: "A command that both runs and groups others is told apart by its arguments.", args: "gardenlet jion"},
		"RoleMissingArgument": {reason: "The missing argument is named.", args: "gardenlet join"},
		"UnknownFlag":         {reason: "A flag that is not there is named.", args: "version --frob"},
		"BadFlagValue":        {reason: "A value that cannot be read is named with its flag.", args: "token create --ttl soon"},
		"UnexpectedArgument":  {reason: "Arguments are not ignored.", args: "version now"},
		"MissingArgument":     {reason: "The missing argument is named.", args: "token delete"},
		"TooManyArguments":    {reason: "One token at a time.", args: "token delete abcdef ghijkl"},
		"CompletionNoShell":   {reason: "The shells are listed.", args: "completion"},
		"CompletionShell":     {reason: "The shells are listed.", args: "completion tcsh"},
		"DefaultsNoRole":      {reason: "The roles are listed.", args: "config print-defaults"},
		"DefaultsRole":        {reason: "The roles are listed.", args: "config print-defaults scheduler"},
		"OutputForm":          {reason: "The forms are listed.", args: "token list -o wide"},
		"TokenLifetimeShort":  {reason: "The bounds are said.", args: "token create --ttl 9m59s"},
		"TokenLifetimeLong":   {reason: "The bounds are said.", args: "token create --ttl 25h"},
		"TokenCreateAllWrong": {reason: "All mistakes are told at once.", args: "token create --ttl 5m --server http://x --print foo -o xml"},
		"TokenDeleteMalformed": {
			reason: "What would be right is said, and the text is not repeated.", args: "token delete T10abc::abcdef.0123456789abcdef",
		},
		"SSHNoShoot":         {reason: "The missing argument is named.", args: "ssh -n garden-meadow"},
		"SSHCommand":         {reason: "A command is told apart by a dash.", args: "ssh sprout node uptime -n garden-meadow"},
		"SSHAllWrong":        {reason: "All mistakes are told at once.", args: "ssh sprout --from 203.0.113,10.0.0.1/8 --timeout 0s"},
		"KubeconfigAllWrong": {reason: "All mistakes are told at once.", args: "kubeconfig --server x --context= --data-dir= --output yaml --force"},
		"SnapshotKey":        {reason: "The key goes to one place.", args: "snapshot key --show --file x"},
		"VersionNoServer":    {reason: "Without a server there is nobody to connect to.", args: "version --kubeconfig x"},
		"RestoreFileFrom":    {reason: "A file is where it is.", args: "snapshot restore /a/b.tsnap --from /c --data-dir /d"},
		"VerifyFileFrom":     {reason: "A file is where it is.", args: "snapshot verify /a/b.tsnap --from /c"},
		"BundleNoFile":       {reason: "The missing argument is named.", args: "bundle export --data-dir d"},
		"BundleTwoFiles":     {reason: "Arguments are not ignored.", args: "bundle import a b --data-dir d"},
		"PublishArgument":    {reason: "An argument is not taken for a command.", args: "bundle publish now --data-dir d"},
		"MigrateArgument":    {reason: "An argument is not taken for a command.", args: "migrate-datastore now"},
		"ValidateTwoFiles":   {reason: "Arguments are not ignored.", args: "config validate a b"},
		"RestoreTwo":         {reason: "Arguments are not ignored.", args: "snapshot restore a b --data-dir d"},
		"ForcedStart":        {reason: "Nothing holds up a start.", args: "certificate rotate-ca start --force"},
		"ForcedCredentials":  {reason: "What has to be forced is completed alone.", args: "certificate rotate-credentials complete --force"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newWorld().golden(t, "usage/"+name, tc.reason, strings.Fields(tc.args)...)
			if r.status != 2 {
				t.Errorf("%s\nstatus of a command line that cannot be right = %d, want 2", tc.reason, r.status)
			}
			if strings.Contains(r.errors, "0123456789abcdef") {
				t.Errorf("Errors hold no secrets: %s", r.errors)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()

	for _, form := range []string{"table", "json", "yaml"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			newWorld().golden(t, "version-"+form, "Tools compare versions.", "version", "-o", form)
		})
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()

	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			r := newWorld().run(t, "completion", shell)
			if r.status != 0 || r.errors != "" || !strings.Contains(r.out, "terrarium") {
				t.Errorf("The script is sourced as it is.\nstatus = %d, errors = %q, output of %d bytes", r.status, r.errors, len(r.out))
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	const (
		server    = "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\n"
		gardenlet = "apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\n"
	)
	cases := map[string]struct {
		reason string
		file   string
		want   result
	}{
		"Server": {
			reason: "A file may say only what differs.",
			file:   server + "listen: :7443\n",
			want:   result{errors: "ServerConfiguration in \"-\" is valid.\n"},
		},
		"Gardenlet": {
			reason: "The kind says which role the file is for.",
			file:   gardenlet + "seedConfig: {metadata: {name: basement}}\ngardenClientConnection: {kubeconfig: garden.kubeconfig}\n",
			want:   result{errors: "GardenletConfiguration in \"-\" is valid.\n"},
		},
		"GardenletIgnored": {
			reason: "What nobody acts on yet is told.",
			file:   gardenlet + "seedConfig: {metadata: {name: basement}}\ngardenClientConnection: {kubeconfig: garden.kubeconfig}\nshootClientConnection: {kubeconfig: shoot.kubeconfig}\n",
			want: result{errors: "Warning: shootClientConnection.kubeconfig has no effect yet\n" +
				"GardenletConfiguration in \"-\" is valid.\n"},
		},
		"UnknownField": {
			reason: "A field that does not exist is named by its path.",
			file:   server + "controllers:\n  seed:\n    monitorPeriode: 1m\n",
			want: result{status: 1, errors: "Error: configuration file \"-\": decode server configuration: " +
				"unknown field \"controllers.seed.monitorPeriode\"\n"},
		},
		"Values": {
			reason: "Each value that cannot be right is named.",
			file:   server + "listen: :70000\ntokens: {defaultLifetime: 1m}\n",
			want: result{status: 1, errors: "Error: configuration file \"-\": " +
				"listen: \":70000\": port \"70000\" is not a number from 0 to 65535\n" +
				"  tokens.defaultLifetime: 1m0s is not between 10m and 24h\n"},
		},
		"GardenletValues": {
			reason: "A gardenlet's file is checked as the gardenlet would.",
			file:   gardenlet + "gardenClientConnection: {kubeconfig: garden.kubeconfig}\n",
			want: result{status: 1, errors: "Error: configuration file \"-\": " +
				"seedConfig: required: it describes the seed of the gardenlet\n"},
		},
		"GardenletUnknownField": {
			reason: "Fields that do not exist are named here as well.",
			file:   gardenlet + "controllers: {shoot: {retryDuratio: 1h}}\n",
			want: result{status: 1, errors: "Error: configuration file \"-\": decode gardenlet configuration: " +
				"unknown field \"controllers.shoot.retryDuratio\"\n"},
		},
		"WrongKind": {
			reason: "The group alone does not make a configuration.",
			file:   "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: Server\n",
			want: result{status: 1, errors: "Error: configuration file \"-\": decode server configuration: wrong kind of configuration: " +
				"got apiVersion \"server.config.terrarium.garden/v1alpha1\" and kind \"Server\", " +
				"want apiVersion \"server.config.terrarium.garden/v1alpha1\" and kind \"ServerConfiguration\"\n"},
		},
		"OtherGroup": {
			reason: "Another file is not a configuration.",
			file:   "apiVersion: v1\nkind: Secret\n",
			want: result{status: 1, errors: "Error: configuration file \"-\": apiVersion \"v1\" is neither " +
				"\"server.config.terrarium.garden/v1alpha1\" (server) nor \"gardenlet.config.gardener.cloud/v1alpha1\" (gardenlet)\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.stdin = tc.file
			got := w.run(t, "config", "validate", "-")
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("%s\nterrarium config validate - (-want +got):\n%s", tc.reason, diff)
			}
		})
	}

	t.Run("Defaults of server", func(t *testing.T) {
		t.Parallel()
		w := newWorld()
		w.stdin = w.run(t, "config", "print-defaults", "server").out
		if r := w.run(t, "config", "validate", "-"); r.status != 0 {
			t.Errorf("What is printed as the defaults is valid.\n%s\n%s", w.stdin, r.errors)
		}
	})
	t.Run("Defaults of gardenlet", func(t *testing.T) {
		t.Parallel()
		w := newWorld()
		w.stdin = w.run(t, "config", "print-defaults", "gardenlet").out
		if r := w.run(t, "config", "validate", "-"); !strings.Contains(r.errors, "seedConfig: required") {
			t.Errorf("The defaults of a gardenlet lack only what nobody else can know.\n%s\n%s", w.stdin, r.errors)
		}
	})
	t.Run("NoFile", func(t *testing.T) {
		t.Parallel()
		r := newWorld().run(t, "config", "validate", "/none.yaml")
		if r.status != 1 || !strings.Contains(r.errors, "/none.yaml") {
			t.Errorf("A file that is not there is named.\nstatus = %d, errors = %q", r.status, r.errors)
		}
	})
}
