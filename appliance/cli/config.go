// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func newConfigCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Validate and show configuration files, and print the defaults",
	}
	cmd.AddCommand(newConfigValidateCommand(env), newConfigPrintDefaultsCommand(env), newConfigShowCommand(env))
	return cmd
}
