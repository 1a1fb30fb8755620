// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newKubeconfig() *cobra.Command {
	var state stateFlag
	command := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the admin kubeconfig of the cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := state.config()
			if err != nil {
				return err
			}
			content, err := os.ReadFile(config.AdminKubeconfig())
			if err != nil {
				return fmt.Errorf("read kubeconfig: %w", err)
			}
			_, err = cmd.OutOrStdout().Write(content)
			return err
		},
	}
	state.add(command.Flags())
	return command
}
