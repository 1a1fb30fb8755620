// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
)

// open finds the destination, and where the last server has ended.
func (k *Keeper) open(ctx context.Context) error {
	if k.store != nil {
		return nil
	}
	garden := k.config.Source.Garden()
	if garden == "" {
		return ErrStarting
	}
	store, err := k.config.Open(ctx)
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.health.Destination = store.String()
	k.mu.Unlock()
	all, err := store.List(ctx)
	if err != nil {
		return err
	}
	full := snapshots(all)
	readable, version, err := sameGarden(ctx, store, full, garden)
	if err != nil {
		return err
	}
	if readable < len(full) {
		k.mu.Lock()
		k.health.Snapshot = &full[readable]
		k.mu.Unlock()
	}
	// Writes of this version are never restored into a directory of the version before.
	if readable < len(full) && version == k.config.Source.Version {
		if err := k.adopt(ctx, store, all, full[readable], readable == 0); err != nil {
			return err
		}
	}
	k.store = store

	return nil
}

// adopt goes on after the files of the server that ran before. What it had written and this server's databases do not know makes
// them begin anew with a snapshot, and so does a newest snapshot that cannot be read.
func (k *Keeper) adopt(ctx context.Context, store Store, all []Entry, readable Entry, newest bool) error {
	if _, beyond := chain(all, readable); beyond != nil {
		return nil
	}
	last := readable
	if found := increments(all); len(found) > 0 {
		last = found[len(found)-1]
	}
	is, err := manifest(ctx, store, last.Name)
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	if err != nil {
		return err
	}
	last.Objects, last.Events = is.Objects, is.Events
	k.follow(last)
	if newest {
		k.base = &readable
	}

	return nil
}

// sameGarden refuses a destination in which another garden keeps its snapshots: retention would remove them. It returns which of the
// snapshots is the newest one that can be read, with its version, and the number of all if none can.
func sameGarden(ctx context.Context, store Store, full []Entry, garden string) (newest int, version string, err error) {
	for i, e := range full {
		is, err := manifest(ctx, store, e.Name)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return 0, "", err
		}
		if is.Garden != garden {
			return 0, "", fmt.Errorf("%s holds snapshots of another garden, %q: each garden needs a folder, or a prefix in a bucket, of its own", store, is.Garden)
		}

		return i, is.Version, nil
	}

	return len(full), "", nil
}

// manifest reads what a file says of itself.
func manifest(ctx context.Context, store Store, name string) (Manifest, error) {
	f, err := store.Open(ctx, name)
	if err != nil {
		return Manifest{}, err
	}
	is, err := ReadManifest(f)
	if err == nil {
		err = is.CheckName(name)
	}

	return is, errors.Join(err, f.Close())
}
