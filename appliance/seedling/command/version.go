// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"github.com/terrarium-garden/terrarium/appliance/build"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this binary and of its cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info := version.Get()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "seedling %s, Kubernetes %s, %s, %s\n", build.Version, info.GitVersion, info.GoVersion, info.Platform)
			return err
		},
	}
}
