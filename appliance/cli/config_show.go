// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func newConfigShowCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the configuration that results from files, drop-ins and flags",
	}
	cmd.AddCommand(newConfigShowServerCommand(env), newConfigShowGardenletCommand(env))
	return cmd
}

const showHelp = `Prints the configuration that a %[1]s with the same flags would have: the defaults, the configuration file, its drop-ins
FILE.d/*.yaml in the order of their names, and the flags, each over those before it. Passwords are not printed. With -o table,
the origin of each value is printed beside it.`

func newConfigShowServerCommand(env Environment) *cobra.Command {
	o := &serverOptions{env: env}
	var output outputFlag
	cmd := &cobra.Command{
		Use:   roleServer,
		Short: "Print the configuration of a server",
		Long:  fmt.Sprintf(showHelp, roleServer),
		Example: `  terrarium config show server
  terrarium config show server -o table --listen :7443`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, output.validate()); err != nil {
				return err
			}
			if err := o.complete(); err != nil {
				return err
			}
			shown := options.WithoutSecrets(o.completed.Configuration())
			return writeConfiguration(env, &output, shown, o.completed.Origin)
		},
	}
	o.options.AddFlags(cmd.Flags())
	output.addTo(cmd.Flags(), formatYAML, formatJSON, formatTable)
	return cmd
}

func newConfigShowGardenletCommand(env Environment) *cobra.Command {
	var (
		path   string
		output outputFlag
	)
	cmd := &cobra.Command{
		Use:     roleGardenlet,
		Short:   "Print the configuration of a gardenlet",
		Long:    fmt.Sprintf(showHelp, roleGardenlet),
		Example: "  terrarium config show gardenlet -o table",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, output.validate()); err != nil {
				return err
			}
			layers, config, err := readGardenlet(env, path)
			if err != nil {
				return err
			}
			if config == nil {
				config = &gardenconfigv1alpha1.GardenletConfiguration{}
				config.SetDefaults()
			}
			config.APIVersion, config.Kind = gardenconfigv1alpha1.GardenletGroupVersion.String(), "GardenletConfiguration"
			return writeConfiguration(env, &output, config, layers.Origin)
		},
	}
	addConfigFlag(cmd.Flags(), &path)
	output.addTo(cmd.Flags(), formatYAML, formatJSON, formatTable)
	return cmd
}

// writeConfiguration prints a configuration, or its values with their origins.
func writeConfiguration(env Environment, output *outputFlag, config runtime.Object, origin func(path string) string) error {
	return output.write(env.Out, config, func(w io.Writer) error {
		values, err := options.Values(config, origin)
		if err != nil {
			return err
		}
		// Some values are long lists. As the last column they make no other line longer.
		rows := [][]string{{"PATH", "ORIGIN", "VALUE"}}
		for _, v := range values {
			if v.Path != "apiVersion" && v.Path != "kind" {
				rows = append(rows, []string{v.Path, v.Origin, v.Value})
			}
		}
		if len(rows) == 1 {
			return errors.New("the configuration is empty")
		}
		return writeTable(w, rows)
	})
}
