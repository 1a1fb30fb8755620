// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func newBundlePublishCommand(env Environment) *cobra.Command {
	var dataDir string
	cmd := &cobra.Command{
		Use:   "publish --data-dir DIRECTORY",
		Short: "Make the keys in a data directory those of all servers of a garden",
		Long: `Has a server publish the keys and certificate authorities in its data directory when it takes the lead next, for all servers on the
same external datastore. Rotations need no such command. It is for files in the directory "pki" that were changed by hand, for a new
"pki/bundle.key" after that file was removed, and for a datastore that was restored without the newest keys.

All servers have to be stopped; start this one first. The others take up its keys, and keep a copy of theirs where a key for stored
objects would be lost. Keys are not published that are changed once more after this command.`,
		Example: `  terrarium bundle publish --data-dir /var/lib/terrarium`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, required("data-dir", dataDir)); err != nil {
				return err
			}
			return publishBundle(env, dataDir)
		},
	}
	cmd.Flags().StringVar(&dataDir, "data-dir", "", "data directory of a server that is stopped; required")
	return cmd
}

func publishBundle(env Environment, dataDir string) (err error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	place, err := identity.DatastorePlace(dir)
	if err != nil {
		return err
	}
	if place == "" {
		return fmt.Errorf("%q is not the data directory of a server with an external datastore, so there is nobody to publish its keys to", dir)
	}
	lock, err := identity.LockDirectory(dir)
	if errors.Is(err, identity.ErrInUse) {
		return withHint(err, "stop all servers of the garden before")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := identity.AllowPublication(dir); err != nil {
		return fmt.Errorf("publish keys: %w", err)
	}
	env.tell("The keys of this directory become those of all servers when this server leads. Start it before the others.\n")
	return nil
}
