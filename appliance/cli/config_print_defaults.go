// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"

	"github.com/spf13/cobra"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

const (
	roleServer    = "server"
	roleGardenlet = "gardenlet"
)

func newConfigPrintDefaultsCommand(env Environment) *cobra.Command {
	roles := []string{roleServer, roleGardenlet}
	return &cobra.Command{
		Use:       "print-defaults server|gardenlet",
		Short:     "Print the default configuration of a role",
		Example:   "  terrarium config print-defaults server > server.yaml",
		ValidArgs: roles,
		Args:      choice("role", roles...),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := defaultConfig(args[0])
			if err != nil {
				return err
			}
			_, err = env.Out.Write(data)
			return err
		},
	}
}

func defaultConfig(role string) ([]byte, error) {
	switch role {
	case roleServer:
		config := &gardenconfigv1alpha1.ServerConfiguration{}
		config.SetDefaults()
		return gardenconfigv1alpha1.EncodeServerConfiguration(config)
	case roleGardenlet:
		config := &gardenconfigv1alpha1.GardenletConfiguration{}
		config.SetDefaults()
		return gardenconfigv1alpha1.EncodeGardenletConfiguration(config)
	}
	return nil, errors.New("unknown role")
}
