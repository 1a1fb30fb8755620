// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

func newSnapshotCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save the garden, and restore it on this or another machine",
		Long: `A snapshot is one encrypted file with all objects, keys and the timeline of a garden. The server takes snapshots by itself,
and saves what is written between them every 30 seconds. Keep a copy of its key somewhere else: see "terrarium snapshot key".`,
	}
	cmd.AddCommand(
		newSnapshotSaveCommand(env), newSnapshotListCommand(env), newSnapshotVerifyCommand(env), newSnapshotDeleteCommand(env),
		newSnapshotRestoreCommand(env), newSnapshotKeyCommand(env),
	)
	return cmd
}

// newApplianceClient is a client for the kinds of the appliance.
func newApplianceClient(config *rest.Config) (rest.Interface, error) {
	kinds := runtime.NewScheme()
	if err := gardenappliancev1alpha1.AddToScheme(kinds); err != nil {
		return nil, fmt.Errorf("register kinds of the appliance: %w", err)
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &gardenappliancev1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(kinds).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to garden: %w", err)
	}
	return client, nil
}

// snapshotFiles are the flags of commands that read snapshots where they are kept, without a server.
type snapshotFiles struct {
	from, config, dataDir, key string
}

func (f *snapshotFiles) addTo(fs *pflag.FlagSet) {
	fs.StringVar(&f.from, "from", "", "folder of the snapshots (default: the destination in --config, a folder or a bucket, else the folder snapshots in the server's data directory)")
	fs.StringVar(&f.config, "config", "", "configuration file of the server whose snapshots are read")
	fs.StringVar(&f.key, "key", "", "file with the key (default: snapshot.key in the server's data directory)")
}

// unused returns an error for each flag that has no effect beside the path of a file.
func (f *snapshotFiles) unused() []error {
	if f.from == "" {
		return nil
	}
	return []error{errors.New("--from: cannot be used together with FILE: name the snapshot by its NAME, without a directory and an extension")}
}

// configuration is that of the server whose snapshots are read.
func (f *snapshotFiles) configuration() (*gardenconfigv1alpha1.ServerConfiguration, error) {
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	if f.config != "" {
		layers, err := options.ReadLayers(options.Disk(), options.Source{Path: f.config, Check: func(data []byte) error {
			_, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)
			return err
		}})
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		data, err := layers.Document()
		if err != nil {
			return nil, err
		}
		if config, err = gardenconfigv1alpha1.DecodeServerConfiguration(data); err != nil {
			return nil, fmt.Errorf("configuration file %q: %w", f.config, err)
		}
	}
	if f.dataDir != "" {
		config.DataDir = f.dataDir
	}
	config.SetDefaults()
	return config, nil
}

// store opens the folder or bucket.
func (f *snapshotFiles) store() (backup.Store, error) {
	if f.from != "" {
		return backup.ReadFolder(f.from), nil
	}
	config, err := f.configuration()
	if err != nil {
		return nil, err
	}
	return server.ReadSnapshots(config)
}

// keys reads the key.
func (f *snapshotFiles) keys() (backup.Keys, error) {
	path := f.key
	if path == "" {
		config, err := f.configuration()
		if err != nil {
			return backup.Keys{}, err
		}
		path = filepath.Join(config.DataDir, backup.KeyFile)
	}
	keys, err := backup.ReadKey(path)
	if errors.Is(err, os.ErrNotExist) {
		return keys, withHint(err, "specify the copy of the key with --key")
	}
	return keys, err
}

// isFile reports whether an argument is the path of a file and not the name of a snapshot.
func isFile(argument string) bool {
	return filepath.Base(argument) != argument || filepath.Ext(argument) == backup.Extension
}

// snapshotHint says what to do about errors of snapshots.
func snapshotHint(err error) error {
	switch {
	case errors.Is(err, backup.ErrWrongKey):
		return withHint(err, "specify the key of the garden that took the snapshot with --key")
	case errors.Is(err, backup.ErrNotEmpty):
		return withHint(err, "choose another directory with --data-dir, or move what is there aside with --force")
	case errors.Is(err, backup.ErrGap):
		return withHint(err, "add --to-revision with that revision to restore the state before the gap")
	case errors.Is(err, backup.ErrDamaged):
		return withHint(err, "use another snapshot, or move the file out of the folder: increments lead from the snapshot before to the same state")
	default:
		return err
	}
}

// placeHint says how to look elsewhere for a snapshot that was not found.
func placeHint(err error) error {
	return withHint(err, "say with --from or --config where the snapshots are, or with --data-dir of which server they are; \"terrarium snapshot list\" shows them")
}
