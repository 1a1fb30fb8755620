// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

type snapshotKeyOptions struct {
	env     Environment
	dataDir string
	show    bool
	file    string
}

func newSnapshotKeyCommand(env Environment) *cobra.Command {
	o := &snapshotKeyOptions{env: env}
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Say where the key of the snapshots is, or print it",
		Long: `Prints the path of the file with the key that decrypts the snapshots of the server on this machine. With --show, it prints
the key itself, and with --file it writes it into a file that only its owner can read, to be kept somewhere else: without the key, no
snapshot can be restored when the disk of the server is lost.`,
		Example: `  terrarium snapshot key
  terrarium snapshot key --file garden-snapshot.key
  terrarium snapshot key --show | ssh safe.example.org 'umask 077; cat > garden-snapshot.key'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.show && o.file != "" {
				return usage(cmd, errors.New("--show and --file cannot be used together"))
			}
			return o.run()
		},
	}
	cmd.Flags().StringVar(&o.dataDir, "data-dir", options.DefaultDataDir, "data directory of the server")
	cmd.Flags().BoolVar(&o.show, "show", false, "print the key itself, which is a secret")
	cmd.Flags().StringVar(&o.file, "file", "", "file to write the key into, with mode 0600; it must not exist")
	return cmd
}

func (o *snapshotKeyOptions) run() error {
	path := filepath.Join(o.dataDir, backup.KeyFile)
	if _, err := backup.ReadKey(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return withHint(err, "the server makes the key at its first start, unless snapshots.recipients is configured")
		}
		return err
	}
	if !o.show && o.file == "" {
		_, err := fmt.Fprintln(o.env.Out, path)
		return err
	}
	text, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return fmt.Errorf("read key of snapshots: %w", err)
	}
	if o.show {
		_, err = o.env.Out.Write(text)
		return err
	}
	err = writeNew(o.file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write key of snapshots: %w", err)
	}
	o.env.tell("Wrote the key to %s. Keep it on another machine.\n", o.file)
	return nil
}
