// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// SnapshotDirectory is the folder in which a server keeps its snapshots.
func SnapshotDirectory(c *gardenconfigv1alpha1.ServerConfiguration) string {
	if c.Snapshots.Directory != "" {
		return c.Snapshots.Directory
	}

	return filepath.Join(c.DataDir, "snapshots")
}

// ReadSnapshots reads where a server keeps its snapshots, and changes nothing there.
func ReadSnapshots(c *gardenconfigv1alpha1.ServerConfiguration) (backup.Store, error) {
	if c.Snapshots.S3 != nil {
		return backup.ReadBucket(bucket(c.Snapshots.S3))
	}

	return backup.ReadFolder(SnapshotDirectory(c)), nil
}

func bucket(c *gardenconfigv1alpha1.BucketConfiguration) backup.BucketConfig {
	return backup.BucketConfig{
		Endpoint: c.Endpoint, Bucket: c.Bucket, Prefix: c.Prefix, Region: c.Region,
		CredentialsFile: c.CredentialsFile, CAFile: c.CAFile, PathStyle: c.PathStyle,
	}
}

// runSnapshots saves the garden. Its value is nil if the garden takes no snapshots: they are turned off, or its objects are in
// another datastore, which is saved in its own way.
func (s *server) runSnapshots(
	ctx context.Context, keys *identity.Garden, stores *kine.Stores, history *timeline.Store, ready func(*backup.Keeper),
) error {
	if s.Config.Snapshots.Disabled || stores.Objects.Log == nil {
		ready(nil)
		<-ctx.Done()

		return nil
	}
	keeper, err := s.snapshots().keeper(keys.Dir, s.Version, saved{stores: stores, history: history, name: s.gardenName})
	if err != nil {
		return err
	}
	ready(keeper)
	keeper.Run(ctx)

	return nil
}

// saved is what snapshots are taken of.
type saved struct {
	stores  *kine.Stores
	history *timeline.Store
	// name is the unique name of the garden; empty while it is not known.
	name func() string
}

// snapshotter saves gardens as the configuration says.
type snapshotter struct {
	config *gardenconfigv1alpha1.ServerConfiguration
	clock  clock.WithTicker
	log    logr.Logger
}

func (o Options) snapshots() snapshotter {
	return snapshotter{config: o.Config, clock: o.Clock, log: o.Log.WithName("snapshots")}
}

// keeper saves the garden in a data directory, which is of a version.
func (s snapshotter) keeper(dir, version string, of saved) (*backup.Keeper, error) {
	config := &s.config.Snapshots
	key, own, err := s.keys(dir)
	if err != nil {
		return nil, err
	}

	return backup.NewKeeper(backup.Config{
		Source: backup.Source{
			Objects: of.stores.Objects.Log, Events: of.stores.Events.Log, Timeline: of.history.Copy,
			Files: func() (map[string][]byte, error) {
				files, err := identity.Portable(dir)
				if err == nil {
					maps.Copy(files, own)
				}

				return files, err
			},
			Garden: of.name, Version: version, Now: s.clock.Now,
		},
		Keys: key,
		Open: func(ctx context.Context) (backup.Store, error) {
			if s.config.Snapshots.S3 != nil {
				of := bucket(s.config.Snapshots.S3)
				of.Spool = dir

				return backup.NewBucket(ctx, of)
			}

			return backup.NewFolder(SnapshotDirectory(s.config))
		},
		Interval: config.Interval.Duration, Increments: config.IncrementInterval.Duration,
		Retention: backup.Retention{Keep: *config.Keep, Window: config.Window.Duration},
		Clock:     s.clock, Log: s.log,
	}), nil
}

// backupFacts are what the doctor looks at; nil if there cannot be snapshots.
func backupFacts(c *gardenconfigv1alpha1.SnapshotConfiguration, keeper *backup.Keeper) *doctor.Backups {
	if c.Disabled {
		return &doctor.Backups{}
	}
	if keeper == nil {
		return nil
	}
	health := keeper.Health()
	facts := &doctor.Backups{Enabled: true, Every: c.Interval.Duration}
	if health.Snapshot != nil {
		facts.Last = health.Snapshot.Time
	}
	if health.Failing {
		facts.Failure = health.LastError
	}

	return facts
}

// keys returns the keys of snapshots, and the file that has to be in each snapshot, so that the restored garden has it.
func (s snapshotter) keys(dir string) (backup.Keys, map[string][]byte, error) {
	if len(s.config.Snapshots.Recipients) > 0 {
		keys, err := backup.ParseRecipients(s.config.Snapshots.Recipients)

		return keys, nil, err
	}
	keys, err := backup.EnsureKey(dir)
	if err != nil {
		return backup.Keys{}, nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, backup.KeyFile)) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return backup.Keys{}, nil, fmt.Errorf("read key of snapshots: %w", err)
	}

	return keys, map[string][]byte{backup.KeyFile: text}, nil
}

// snapshotStatus says how well the garden is saved.
type snapshotStatus struct {
	Destination string `json:"destination,omitempty"`
	// Last is the newest snapshot, LastTime when its state was read, and Bytes its size.
	Last     string     `json:"last,omitempty"`
	LastTime *time.Time `json:"lastTime,omitempty"`
	Bytes    int64      `json:"bytes,omitempty"`
	// Protected is the time up to which all writes can be restored.
	Protected *time.Time `json:"protected,omitempty"`
	// Failing says that the last attempt has failed; LastError is the last error.
	Failing       bool       `json:"failing"`
	LastError     string     `json:"lastError,omitempty"`
	LastErrorTime *time.Time `json:"lastErrorTime,omitempty"`
}

// snapshots describes a keeper; nothing if there is none.
func snapshots(keeper *backup.Keeper) *snapshotStatus {
	if keeper == nil {
		return nil
	}
	health := keeper.Health()
	is := &snapshotStatus{Destination: health.Destination, Failing: health.Failing, LastError: health.LastError}
	if last := health.Snapshot; last != nil {
		is.Last, is.LastTime, is.Bytes = last.Name, new(last.Time), last.Bytes
	}
	if !health.Protected.IsZero() {
		is.Protected = new(health.Protected.UTC())
	}
	if !health.LastErrorTime.IsZero() {
		is.LastErrorTime = new(health.LastErrorTime.UTC())
	}

	return is
}
