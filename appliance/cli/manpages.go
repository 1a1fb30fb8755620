// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/terrarium-garden/terrarium/appliance/build"
)

func newManPagesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man-pages DIR",
		Short: "Write the manual pages of all commands into a directory",
		Example: `  terrarium man-pages /usr/local/share/man/man1
  SOURCE_DATE_EPOCH=0 terrarium man-pages man`,
		Args: exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // Manual pages are public.
				return fmt.Errorf("make directory: %w", err)
			}
			header := &doc.GenManHeader{Section: "1", Source: "Terrarium " + build.Version, Manual: "Terrarium"}
			return doc.GenManTree(cmd.Root(), header, args[0])
		},
	}
}
