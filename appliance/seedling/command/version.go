// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the cluster that this binary makes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info := version.Get()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "Kubernetes %s, %s, %s\n", info.GitVersion, info.GoVersion, info.Platform)
			return err
		},
	}
}
