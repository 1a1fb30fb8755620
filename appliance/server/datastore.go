// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/standby"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

const (
	// datastoreInterval is how often an external datastore is asked for an answer.
	datastoreInterval = 2 * time.Second
	// datastorePatience is how long a start waits for an external datastore before it tells so, and then between two lines of the log.
	datastorePatience = 5 * time.Second
	datastoreReminder = time.Minute
)

// datastoreConfig is the configuration of the store of a garden in a data directory.
func (o Options) datastoreConfig(dir string) kine.Config {
	from := &o.Config.Datastore
	c := kine.NewConfig(filepath.Join(dir, "db"))
	c.Endpoint, c.TLS = from.Endpoint, kine.TLS{CAFile: from.CAFile, CertFile: from.CertFile, KeyFile: from.KeyFile}
	c.Log = o.Log.WithName("datastore")
	c.HistoryBytes = min(c.HistoryBytes, o.MemoryLimit/historyShare)
	if o.Datastore != nil {
		o.Datastore(&c)
	}

	return c
}

// datastore opens the stores of a garden.
type datastore struct {
	clock    clock.Clock
	log      logr.Logger
	listener net.Listener
	keys     *identity.Garden
	config   kine.Config
}

func (s *server) datastore(d door, keys *identity.Garden) *datastore {
	return &datastore{clock: s.Clock, log: s.Log, listener: d.listener, keys: keys, config: s.datastoreConfig(keys.Dir)}
}

func (d *datastore) run(ctx context.Context, ready func(*kine.Stores)) error {
	if err := refuseOtherPlace(d.keys.Dir, d.config); err != nil {
		return err
	}
	stores, err := d.open(ctx)
	if err != nil {
		return err
	}
	if err := checkDatastore(ctx, d.keys.Dir, stores); err != nil {
		return errors.Join(err, stores.Close())
	}
	ready(stores)
	<-ctx.Done()

	return stores.Close()
}

// open opens the stores. While an external datastore does not answer, everybody who asks the server is told so.
func (d *datastore) open(ctx context.Context) (*kine.Stores, error) {
	if !d.config.External() {
		return kine.Start(ctx, d.config)
	}
	place := kine.PlaceOf(d.config.Endpoint)
	waiting, err := standby.OpenWaitingRoom(d.listener, d.keys, place)
	if err != nil {
		return nil, err
	}
	defer waiting.Close()
	defer d.remind(place)()
	stores, err := kine.Start(ctx, d.config)
	if err != nil {
		return nil, err
	}
	for {
		err := stores.Ping(ctx)
		if err == nil {
			return stores, nil
		}
		waiting.Log(d.log, err)
		select {
		case <-d.clock.After(datastoreInterval):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), stores.Close())
		}
	}
}

// remind logs from time to time that the datastore does not answer, until the function that it returns is called.
func (d *datastore) remind(place kine.Place) (done func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for wait := datastorePatience; ; wait = datastoreReminder {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
				d.log.Error(errDatastoreAway, "The start goes on once the datastore answers", "datastore", place.String())
			case <-stop:
				timer.Stop()

				return
			}
		}
	}()

	return func() {
		close(stop)
		<-stopped
	}
}

var (
	errDatastoreAway = errors.New("the datastore does not answer")
	errOtherPlace    = errors.New("the objects of this garden are somewhere else")
	errOtherGarden   = errors.New("the datastore belongs to another garden")
)

// refuseOtherPlace keeps a server from beginning an empty garden beside its objects because a setting was lost.
func refuseOtherPlace(dir string, c kine.Config) error {
	was, err := identity.DatastorePlace(dir)
	if err != nil || was == "" || c.External() {
		return err
	}

	return fmt.Errorf("%w: in %s, but datastore.endpoint is not set; set it, or bring the objects back with \"terrarium migrate-datastore\"",
		errOtherPlace, was)
}

// checkDatastore refuses an external store that is not that of this garden.
func checkDatastore(ctx context.Context, dir string, stores *kine.Stores) error {
	if stores.External == nil {
		return nil
	}
	mine, err := identity.DatastoreOwner(dir)
	if err != nil {
		return err
	}
	owner, empty, err := stores.Owner(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", stores.External, err)
	}
	switch {
	case owner == mine:
	case owner != "":
		return fmt.Errorf("%w: %s; for another server of the same garden, start it with the identity of the garden: see \"terrarium bundle export\"",
			errOtherGarden, stores.External)
	case empty && hasDatabase(dir):
		return fmt.Errorf("%w: in SQLite in %q, and %s is empty; stop the server and run \"terrarium migrate-datastore\"", errOtherPlace, dir, stores.External)
	case !empty:
		return fmt.Errorf("%w: %s has objects that no garden has marked as its own; choose an empty one", errOtherGarden, stores.External)
	default:
		if err := stores.Own(ctx, mine); err != nil {
			return fmt.Errorf("%s: %w", stores.External, err)
		}
	}

	return identity.SetDatastorePlace(dir, stores.External.String())
}

func hasDatabase(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "db", "objects.db"))

	return !errors.Is(err, fs.ErrNotExist)
}
