// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/install"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/packaging/systemd"
)

func newUninstallCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the service of a server or a gardenlet from this machine",
	}
	cmd.AddCommand(newUninstallRoleCommand(env, roleServer), newUninstallRoleCommand(env, roleGardenlet))
	return cmd
}

type uninstallOptions struct {
	env        Environment
	role       string
	prefix     string
	purge, yes bool
	dryRun     bool
}

func newUninstallRoleCommand(env Environment, role string) *cobra.Command {
	o := &uninstallOptions{env: env, role: role}
	cmd := &cobra.Command{
		Use:   role,
		Short: "Remove the service of a " + role + " from this machine",
		Long: fmt.Sprintf(`Stops the %[1]s and removes its service. Data and configuration are kept, so that "terrarium install %[1]s" brings it back as
it was. With --purge, they are deleted for good, and so is the user of the service.`, role),
		Example: fmt.Sprintf("  terrarium uninstall %[1]s --dry-run\n  terrarium uninstall %[1]s\n  terrarium uninstall %[1]s --purge --yes", role),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.yes && !o.purge {
				return usage(cmd, errors.New("--yes: only --purge asks a question"))
			}
			return o.run(cmd.Context())
		},
	}
	if role == roleServer {
		cmd.Long += "\nA data directory that the configuration has elsewhere is never deleted."
	}
	cmd.Flags().BoolVar(&o.purge, "purge", false, "also delete data, configuration and user")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "with --purge, do not ask")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would be removed and run, and change nothing")
	cmd.Flags().StringVar(&o.prefix, "prefix", install.DefaultPrefix, "directory below which program and unit were installed")
	return cmd
}

func (o *uninstallOptions) run(ctx context.Context) error {
	machine := o.env.machine()
	if !o.dryRun {
		if err := explainInstall(machine.Check(), "uninstall "+o.role); err != nil {
			return err
		}
	}
	removal := install.Removal{
		Options: install.Options{Service: serviceOf(o.role), Prefix: o.prefix}, Purge: o.purge, Purged: configFiles(o.role),
		Data: o.dataElsewhere(machine), Others: []systemd.Service{systemd.Server()},
	}
	if o.role == roleServer {
		removal.Others = []systemd.Service{systemd.Gardenlet()}
	}
	if o.dryRun {
		return removal.Print(o.env.Out, machine)
	}
	if o.purge && !o.yes {
		if err := o.ask(ctx, removal.Paths(), removal.Stays(machine)); err != nil {
			return err
		}
	}
	return install.Remove(ctx, machine, removal, func(line string) { o.env.tell("  %s\n", line) })
}

// dataElsewhere returns the data directory in the configuration of a server, if that is not the one of the service. It has to be read before
// the configuration is deleted.
func (o *uninstallOptions) dataElsewhere(machine install.Machine) string {
	if o.role != roleServer {
		return ""
	}
	_, config, err := readServer(filesBelow(machine.Root), configFiles(o.role)[0])
	if err != nil {
		o.env.tell("Warning: where the data directory is, is not known: %v\n", err)
		return ""
	}
	if below, err := filepath.Rel(serviceOf(o.role).StateDir, config.DataDir); err == nil && filepath.IsLocal(below) {
		return ""
	}
	return config.DataDir
}

// ask asks whether data may be deleted.
func (o *uninstallOptions) ask(ctx context.Context, paths []string, stays string) error {
	if stays != "" {
		stays = " " + stays + ", stays."
	}
	yes, err := o.env.confirmed(ctx, fmt.Sprintf("This deletes %s for good.%s", strings.Join(paths, ", "), stays))
	if err == nil && !yes {
		return errors.New("nothing was deleted: the answer was not yes")
	}
	return err
}

// configFiles returns the configuration of the service of a role.
func configFiles(role string) []string {
	if role == roleServer {
		path := filepath.Join(options.ConfigDir, options.ServerFile)
		return []string{path, path + options.DropInSuffix}
	}
	path := filepath.Join(options.ConfigDir, options.GardenletFile)
	return []string{path, path + options.DropInSuffix, seedKubeconfigFile}
}

// seedKubeconfigFile is the kubeconfig of the seed of a gardenlet that is a service.
const seedKubeconfigFile = options.ConfigDir + "/seed.kubeconfig"
