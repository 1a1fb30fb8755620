// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/appliance/install"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/packaging/systemd"
)

func newInstallCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install a server or a gardenlet as a service of this machine",
	}
	cmd.AddCommand(newInstallRoleCommand(env, roleServer), newInstallRoleCommand(env, roleGardenlet))
	return cmd
}

// serviceOf returns the service of a role.
func serviceOf(role string) systemd.Service {
	if role == roleGardenlet {
		return systemd.Gardenlet()
	}
	return systemd.Server()
}

// machine returns the machine on which services are installed.
func (e Environment) machine() install.Machine {
	if e.Machine != nil {
		return *e.Machine
	}
	return install.ThisMachine()
}

type installOptions struct {
	env  Environment
	role string

	configFile        string
	externalAddresses []string
	listen            string
	root, prefix      string
	start, dryRun     bool
}

const installHelp = `Makes a %[1]s a service of this machine: copies this program to /usr/local/bin, creates the user of the service, and writes a
hardened systemd unit and the configuration file %[2]s. Run it again after an upgrade of the program: it changes
only what differs, and keeps a configuration that exists. Flags that ask for another configuration than that are refused.`

const installGardenletHelp = `

A gardenlet needs a configuration that says which seed it is and how it reaches the garden and the seed. To join a seed and write
such a file, run "terrarium gardenlet join --mode process --write-config FILE" once, and interrupt it when the seed is ready.`

func newInstallRoleCommand(env Environment, role string) *cobra.Command {
	o := &installOptions{env: env, role: role}
	cmd := &cobra.Command{
		Use:   role,
		Short: "Install a " + role + " as a service of this machine",
		Long:  fmt.Sprintf(installHelp, role, o.configPath()),
		Example: fmt.Sprintf(`  terrarium install %[1]s --start
  terrarium install %[1]s --dry-run
  terrarium install %[1]s --config my.yaml`, role),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	if role == roleGardenlet {
		cmd.Long += installGardenletHelp
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *installOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.configFile, "config", "", "configuration file to install, or - for the standard input; one that exists is kept, and has to have the same content")
	if o.role == roleServer {
		fs.StringSliceVar(&o.externalAddresses, "external-address", nil,
			"host name or IP address of the server, for the new configuration file, or as in the one that exists; can be repeated (default: detected)")
		fs.StringVar(&o.listen, "listen", "", "address and port of the API, for the new configuration file, or as in the one that exists (default :6443)")
	}
	fs.BoolVar(&o.start, "start", false, "enable and start the service, or restart it after a change, and wait until it is ready")
	fs.BoolVar(&o.dryRun, "dry-run", false, "print what would be written and run, and change nothing")
	fs.StringVar(&o.prefix, "prefix", install.DefaultPrefix, "directory below which program and unit are installed")
	fs.StringVar(&o.root, "root", "", "write the files below this directory and do nothing else, to build packages and images")
}

func (o *installOptions) validate() []error {
	var errs []error
	if o.root != "" && o.start {
		errs = append(errs, errors.New("--start: cannot be used together with --root"))
	}
	if o.configFile != "" && (len(o.externalAddresses) > 0 || o.listen != "") {
		errs = append(errs, errors.New("--config: cannot be used together with --external-address or --listen"))
	}
	if !filepath.IsAbs(o.prefix) {
		errs = append(errs, errors.New("--prefix: must be an absolute path"))
	}
	return errs
}

// configPath returns the path of the configuration file of the service.
func (o *installOptions) configPath() string {
	return filepath.Join(options.ConfigDir, map[string]string{roleServer: options.ServerFile, roleGardenlet: options.GardenletFile}[o.role])
}

func (o *installOptions) run(ctx context.Context) error {
	machine := o.env.machine()
	if !o.dryRun && o.root == "" {
		if err := explainInstall(machine.Check(), "install "+o.role); err != nil {
			return err
		}
	}
	plan, err := o.plan()
	if err != nil {
		return err
	}
	if err := o.checkKept(machine, plan); err != nil {
		return err
	}
	if o.dryRun {
		return plan.Print(o.env.Out, machine)
	}
	if err := install.Apply(ctx, machine, plan, o.tell); err != nil {
		return err
	}
	if !o.start && o.root == "" {
		o.env.tell("To start it now and at every boot: systemctl enable --now %s\n", plan.Service.Unit)
	}
	return nil
}

func (o *installOptions) tell(line string) { o.env.tell("  %s\n", line) }

func (o *installOptions) plan() (install.Options, error) {
	program, err := os.Executable()
	if err != nil {
		return install.Options{}, fmt.Errorf("find this program: %w", err)
	}
	// A package itself is built below another root.
	if prefix := filepath.Clean(o.prefix); o.root == "" && (prefix == "/" || prefix == "/usr") {
		return install.Options{}, fmt.Errorf("--prefix %s: packages of the system install there; use %s, or install the package", o.prefix, install.DefaultPrefix)
	}
	plan := install.Options{Service: serviceOf(o.role), Root: o.root, Prefix: o.prefix, Program: program, Start: o.start}
	config, err := o.config()
	if err != nil {
		return install.Options{}, err
	}
	if config != nil {
		plan.Configuration = []install.ConfigFile{{Path: o.configPath(), Content: config}}
	}
	return plan, nil
}

// config returns the configuration for a machine that has none; nil if a gardenlet is installed without one.
func (o *installOptions) config() ([]byte, error) {
	if o.configFile == "" {
		return o.freshConfig()
	}
	data, err := readInput(o.env, o.configFile)
	if err != nil {
		return nil, err
	}
	kind, _, err := validateConfig(data)
	if want := map[string]string{roleServer: "ServerConfiguration", roleGardenlet: "GardenletConfiguration"}[o.role]; err == nil && kind != want {
		err = fmt.Errorf("kind %q is not %q", kind, want)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration file %q: %w", o.configFile, err)
	}
	return data, nil
}

func (o *installOptions) freshConfig() ([]byte, error) {
	if o.role == roleGardenlet {
		return nil, nil
	}
	var b bytes.Buffer
	b.WriteString(`# The configuration of the server; flags are not needed. "terrarium config print-defaults server" prints every field with its
# default, and "terrarium config validate" checks this file. Files server.yaml.d/*.yaml take precedence over it.
apiVersion: server.config.terrarium.garden/v1alpha1
kind: ServerConfiguration
`)
	values := map[string]any{}
	if o.listen != "" {
		values["listen"] = o.listen
	}
	if len(o.externalAddresses) > 0 {
		values["externalAddresses"] = o.externalAddresses
	}
	if len(values) > 0 {
		data, err := yaml.Marshal(values)
		if err != nil {
			return nil, err
		}
		b.Write(data)
	}
	if _, _, err := validateConfig(b.Bytes()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// explainInstall adds to an error of the machine what to do.
func explainInstall(err error, command string) error {
	switch {
	case errors.Is(err, install.ErrNotRoot):
		return withHint(err, fmt.Sprintf("run it with sudo; \"terrarium %s --dry-run\" prints what it would do", command))
	case errors.Is(err, install.ErrNoSystemd):
		return withHint(err, "let your own supervisor run \"terrarium server\" or \"terrarium gardenlet\", or use the container image")
	}
	return err
}
