// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/migrate"
)

const (
	// placeSQLite stands for the databases in the data directory.
	placeSQLite = "sqlite"
	// databasesDir is where they are in it.
	databasesDir = "db"
)

type migrateDatastoreOptions struct {
	env       Environment
	output    outputFlag
	dataDir   string
	from, to  string
	noEvents  bool
	startOver bool
}

func newMigrateDatastoreCommand(env Environment) *cobra.Command {
	o := &migrateDatastoreOptions{env: env}
	cmd := &cobra.Command{
		Use:   "migrate-datastore --from WHERE --to WHERE --data-dir DIRECTORY",
		Short: "Copy a garden from SQLite to PostgreSQL or etcd, or back",
		Long: `Copies all objects of a garden from one datastore to another, and compares the copy with the source. No server of the garden may run
meanwhile. WHERE is "sqlite" for the databases in the data directory, the URL of a datastore, or the path of a configuration file of
a server, whose section "datastore" counts. A URL with a password is only accepted in a file.

The target must be empty. Its resource versions go on above those of the source, so clients list again and go on. The source stays as
it is, and can be removed once the server has started on the target. A server starts on the target only after the copy is complete:
an interrupted run can be repeated, with --start-over if the target is an external datastore.`,
		Example: `  # From SQLite to the datastore that is set in a new configuration file, which the server then starts with
  terrarium migrate-datastore --data-dir /var/lib/terrarium --from sqlite --to /etc/terrarium/server.yaml

  # From an etcd without passwords back to SQLite
  terrarium migrate-datastore --data-dir /var/lib/terrarium --from https://10.0.0.4:2379 --to sqlite`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.from, "from", "", "datastore that is copied; required")
	fs.StringVar(&o.to, "to", "", "empty datastore to copy to; required")
	fs.StringVar(&o.dataDir, "data-dir", "", "data directory of the garden; required")
	fs.BoolVar(&o.noEvents, "without-events", false, "leave Events out, which end by themselves")
	fs.BoolVar(&o.startOver, "start-over", false, "remove from the target what an interrupted migration has left there")
	o.output.addTo(fs, "", formatJSON, formatYAML)
	return cmd
}

func (o *migrateDatastoreOptions) validate() []error {
	errs := []error{o.output.validate()}
	for name, value := range map[string]string{"data-dir": o.dataDir, "from": o.from, "to": o.to} {
		if value == "" {
			errs = append(errs, fmt.Errorf("--%s: required", name))
		}
	}
	for name, value := range map[string]string{"from": o.from, "to": o.to} {
		if !strings.Contains(value, "://") {
			continue
		}
		if kine.HasPassword(value) {
			errs = append(errs, fmt.Errorf("--%s: contains a password, which every user of this machine can read in the list of processes; name a configuration file instead", name))
		} else if err := options.ValidateEndpoint(value); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", name, err))
		}
	}
	return errs
}

func (o *migrateDatastoreOptions) run(ctx context.Context) (err error) {
	dir, err := filepath.Abs(o.dataDir)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	from, err := o.side("from", o.from, dir)
	if err != nil {
		return err
	}
	to, err := o.side("to", o.to, dir)
	if err != nil {
		return err
	}
	lock, err := identity.LockDirectory(dir)
	if errors.Is(err, identity.ErrInUse) {
		return withHint(err, "stop the server before its datastore is copied")
	}
	if err != nil {
		return err
	}
	defer func() {
		// The databases are closed by now. Their directory is one of the target, or has got locks of the source.
		err = errors.Join(err, identity.GiveToOwner(dir, databasesDir, databasesDir+migrate.StageSuffix), lock.Release())
	}()
	if err := refuseUnfinished(dir, to.External()); err != nil {
		return err
	}
	owner, err := identity.DatastoreOwner(dir)
	if err != nil {
		return fmt.Errorf("%q is not the data directory of a garden: %w", dir, err)
	}
	kine.RouteLogs(logr.Discard(), "")
	if err := refuseOlderKeys(ctx, dir, from, owner); err != nil {
		return err
	}
	done, err := migrate.Migration{
		From: from, To: to, Owner: owner, WithoutEvents: o.noEvents, StartOver: o.startOver,
		Progress: func(text string) { o.env.tell("%s\n", text) },
	}.Run(ctx)
	if err != nil {
		return migrateHint(fmt.Errorf("migrate datastore: %w", err))
	}
	where := ""
	if to.External() {
		where = to.String()
		// The keys of this directory become those of all servers there.
		if err := identity.AllowPublication(dir); err != nil {
			return err
		}
	}
	if err := identity.SetDatastorePlace(dir, where); err != nil {
		return err
	}
	return o.tell(done, to.External())
}

var (
	errUnfinished = errors.New("keys are being changed, and nobody has tried how that goes on in another datastore")
	errOlderKeys  = errors.New("this data directory does not have the newest keys of the garden, with which objects are stored")
)

// refuseOlderKeys refuses to move a garden away from an external datastore with the directory of a server that does not have the newest
// keys: without them, nobody can read the copy.
func refuseOlderKeys(ctx context.Context, dir string, from migrate.Side, owner string) (err error) {
	if !from.External() {
		return nil
	}
	stores, err := kine.Start(ctx, from.Config)
	if err != nil {
		return fmt.Errorf("migrate datastore: %w", err)
	}
	defer func() { err = errors.Join(err, stores.Close()) }()
	whose, _, err := stores.Owner(ctx)
	if err != nil || whose != owner {
		return err // The migration says so.
	}
	client, err := stores.Connection()
	if err != nil {
		return err
	}
	is, err := generations.Datastore{Client: client}.Read(ctx)
	if err != nil {
		return err
	}
	published := identity.Generation{}
	if is != nil {
		published = identity.Generation{Number: is.Generation, Digest: is.Digest}
	}
	switch newest, err := identity.HasGeneration(dir, published); {
	case err != nil:
		return err
	case !newest:
		return withHint(fmt.Errorf("migrate datastore: %w: the datastore has generation %d", errOlderKeys, published.Number),
			"start this server once, so that it takes up the newest keys, or says why it cannot, and stop it")
	default:
		return nil
	}
}

// refuseUnfinished refuses to move a garden to an external datastore while a rotation goes on.
func refuseUnfinished(dir string, outside bool) error {
	if !outside {
		return nil
	}
	unfinished, err := identity.UnfinishedRotations(dir)
	if err != nil {
		return fmt.Errorf("%q: %w", dir, err)
	}
	if len(unfinished) == 0 {
		return nil
	}
	var names []string
	for _, u := range unfinished {
		names = append(names, u.What+" ("+u.Command+")")
	}

	return withHint(fmt.Errorf("migrate datastore: %w: %s", errUnfinished, strings.Join(names, ", ")), "start the server where the garden is now, and complete them first")
}

func (o *migrateDatastoreOptions) tell(done migrate.Result, outside bool) error {
	err := o.output.write(o.env.Out, done, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "Copied %d objects and %d events from %s to %s, and compared them. Resource versions go on at %d, after %d.\n",
			done.Objects, done.Events, done.From, done.To, done.ToRevision, done.FromRevision)
		return err
	})
	if outside {
		o.env.tell("Start the server with this datastore: set datastore.endpoint in its configuration file.\n")
	} else {
		o.env.tell("Start the server without datastore.endpoint.\n")
	}
	return err
}

// side is the datastore that a flag names.
func (o *migrateDatastoreOptions) side(flag, where, dir string) (migrate.Side, error) {
	c := kine.NewConfig(filepath.Join(dir, databasesDir))
	switch {
	case where == placeSQLite:
	case strings.Contains(where, "://"):
		c.Endpoint = where
	default:
		config, err := configurationIn(where)
		if err != nil {
			return migrate.Side{}, fmt.Errorf("--%s: %w", flag, err)
		}
		if config.Datastore.Endpoint == "" {
			return migrate.Side{}, fmt.Errorf("--%s: %q has no datastore.endpoint", flag, where)
		}
		c.Endpoint = config.Datastore.Endpoint
		c.TLS = kine.TLS{CAFile: config.Datastore.CAFile, CertFile: config.Datastore.CertFile, KeyFile: config.Datastore.KeyFile}
	}
	if err := c.Validate(); err != nil {
		return migrate.Side{}, fmt.Errorf("--%s: %w", flag, err)
	}
	return migrate.Side{Config: c}, nil
}

// configurationIn reads the configuration file of a server with its drop-ins.
func configurationIn(path string) (*gardenconfigv1alpha1.ServerConfiguration, error) {
	layers, err := options.ReadLayers(options.Disk(), options.Source{Path: path, Check: func(data []byte) error {
		_, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)
		return err
	}})
	if err != nil {
		return nil, err
	}
	data, err := layers.Document()
	if err != nil {
		return nil, err
	}
	return gardenconfigv1alpha1.DecodeServerConfiguration(data)
}

// migrateHint says what to do about errors of a migration.
func migrateHint(err error) error {
	switch {
	case errors.Is(err, migrate.ErrInterrupted):
		return withHint(err, "repeat the command with --start-over, which removes that part")
	case errors.Is(err, migrate.ErrNotEmpty):
		return withHint(err, "choose an empty datastore: a database, or an etcd, of its own")
	case errors.Is(err, migrate.ErrChanged):
		return withHint(err, "stop all servers of the garden, and repeat the command with --start-over")
	case errors.Is(err, migrate.ErrForeign):
		return withHint(err, "use the data directory of a server that runs on it")
	default:
		return err
	}
}
