// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const (
	// bundleFormat is the version of the format.
	bundleFormat = 1
	// bundleLimit is more than any bundle has.
	bundleLimit = 1 << 20
	// shortestPassphrase is how long a passphrase has to be that was not generated.
	shortestPassphrase = 16
)

// bundle is what is encrypted.
type bundle struct {
	Format int               `json:"format"`
	Files  map[string][]byte `json:"files"`
}

func newBundleCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Give further servers of a garden its keys",
		Long: `All servers of a garden on one external datastore need the same keys and certificate authorities. "terrarium bundle export" writes
them into an encrypted file on one server, and "terrarium bundle import" makes the data directory of another server from it. Rotations
reach all servers by themselves; "terrarium bundle publish" does the same for keys that were changed in another way.

Anyone who has the file and its passphrase controls the garden: delete the file after the import.`,
	}
	cmd.AddCommand(newBundleExportCommand(env), newBundleImportCommand(env), newBundlePublishCommand(env))
	return cmd
}

type bundleExportOptions struct {
	env                       Environment
	dataDir, file, passphrase string
}

func newBundleExportCommand(env Environment) *cobra.Command {
	o := &bundleExportOptions{env: env}
	cmd := &cobra.Command{
		Use:   "export FILE --data-dir DIRECTORY",
		Short: "Write the keys of a garden into an encrypted file",
		Long: `Writes the keys and certificate authorities of a garden into a file that is encrypted by a passphrase. The server may run. Without
--passphrase-file, a passphrase is generated, and printed once.`,
		Example: `  terrarium bundle export garden.bundle --data-dir /var/lib/terrarium`,
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			if err := usage(cmd, required("data-dir", o.dataDir)); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.dataDir, "data-dir", "", "data directory of a server; required")
	cmd.Flags().StringVar(&o.passphrase, "passphrase-file", "", "file with the passphrase, of at least 16 characters (default: a generated one)")
	return cmd
}

func required(flag, value string) error {
	if value == "" {
		return fmt.Errorf("--%s: required", flag)
	}
	return nil
}

func (o *bundleExportOptions) run(ctx context.Context) error {
	files, err := identity.Shared(o.dataDir)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	passphrase, generated := rand.Text(), true
	if o.passphrase != "" {
		if passphrase, err = readPassphrase(ctx, o.env, o.passphrase); err != nil {
			return err
		}
		if generated = false; len(passphrase) < shortestPassphrase {
			return fmt.Errorf("--passphrase-file: the passphrase has less than %d characters", shortestPassphrase)
		}
	}
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return fmt.Errorf("encrypt keys: %w", err)
	}
	var sealed bytes.Buffer
	to, err := age.Encrypt(&sealed, recipient)
	if err == nil {
		err = errors.Join(json.NewEncoder(to).Encode(bundle{Format: bundleFormat, Files: files}), to.Close())
	}
	if err != nil {
		return fmt.Errorf("encrypt keys: %w", err)
	}
	err = writeNew(o.file, func(w io.Writer) error {
		_, err := sealed.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	o.env.tell("Wrote the keys of the garden to %s. Copy it to the other server, and run \"terrarium bundle import\" there.\n", o.file)
	if generated {
		o.env.tell("The passphrase, which is kept nowhere:\n")
		_, err = fmt.Fprintln(o.env.Out, passphrase)
	}
	return err
}

type bundleImportOptions struct {
	env                       Environment
	dataDir, file, passphrase string
	force                     bool
}

func newBundleImportCommand(env Environment) *cobra.Command {
	o := &bundleImportOptions{env: env}
	cmd := &cobra.Command{
		Use:   "import FILE --data-dir DIRECTORY",
		Short: "Make the data directory of a further server of a garden",
		Long: `Makes the data directory of a further server from a bundle. Start the server with the datastore of the garden afterwards. The passphrase
is the first line of the standard input, or of --passphrase-file. On a terminal, the command asks for it.

With --force, a directory with keys gets those of the bundle, such as after the keys of the garden were changed; the old ones are moved
aside. A server must not run on the directory.`,
		Example: `  terrarium bundle import garden.bundle --data-dir /var/lib/terrarium`,
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			if err := usage(cmd, required("data-dir", o.dataDir)); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.dataDir, "data-dir", "", "data directory to make; required")
	cmd.Flags().StringVar(&o.passphrase, "passphrase-file", "", "file with the passphrase (default: the standard input)")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the keys that are there")
	return cmd
}

func (o *bundleImportOptions) run(ctx context.Context) (err error) {
	passphrase, err := readPassphrase(ctx, o.env, o.passphrase)
	if err != nil {
		return err
	}
	content, err := openBundle(o.file, passphrase)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(o.dataDir)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	lock, err := identity.LockDirectory(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if _, err := os.Stat(filepath.Join(dir, "db", "objects.db")); err == nil {
		return fmt.Errorf("%q has the objects of a garden; choose another directory", dir)
	}
	aside, err := identity.Adopt(dir, content.Files, o.force, o.env.Clock)
	if errors.Is(err, identity.ErrIdentityExists) {
		return withHint(err, "choose an empty directory, or replace the keys with --force")
	}
	if err != nil {
		return fmt.Errorf("import keys: %w", err)
	}
	if aside != "" {
		o.env.tell("The keys that were there before are in %s now.\n", aside)
	}
	o.env.tell("This directory has the keys of the garden now. Start the server with its datastore, and delete %s.\n", o.file)
	return nil
}

var errBundle = errors.New("it is damaged, no bundle, or the passphrase is wrong")

func openBundle(path, passphrase string) (*bundle, error) {
	f, err := os.Open(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	defer f.Close() //nolint:errcheck // It was only read.
	key, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("read passphrase: %w", err)
	}
	plain, err := age.Decrypt(f, key)
	if err != nil {
		return nil, fmt.Errorf("open bundle %q: %w", path, errBundle)
	}
	text, err := io.ReadAll(io.LimitReader(plain, bundleLimit))
	if err != nil {
		return nil, fmt.Errorf("open bundle %q: %w", path, errBundle)
	}
	content := &bundle{}
	if err := json.Unmarshal(text, content); err != nil {
		return nil, fmt.Errorf("open bundle %q: %w", path, errBundle)
	}
	if content.Format != bundleFormat {
		return nil, fmt.Errorf("bundle %q has format %d, and this version knows %d", path, content.Format, bundleFormat)
	}
	return content, nil
}
