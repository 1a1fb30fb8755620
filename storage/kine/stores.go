// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Endpoint is where an etcd client finds a store.
type Endpoint struct {
	// Servers are URLs; a unix socket for an embedded store.
	Servers []string
	// TLS is set for an external etcd.
	TLS TLS
}

// Stores are the running databases of a garden.
type Stores struct {
	// Objects keeps everything but Events.
	Objects Endpoint
	// Events keeps Events; the same place as Objects with an external datastore.
	Events Endpoint
	// Compacts is false where the store is a real etcd: there the API server has to ask for compaction.
	Compacts bool
	// Private tells that no other process reaches the stores.
	Private bool

	instances []*instance
	remove    func() error
}

// Start opens the stores and returns once they serve. Cancelling ctx does not stop them: Close does, so that whoever
// writes to them can be stopped first.
func Start(ctx context.Context, cfg Config) (*Stores, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("datastore: %w", err)
	}
	if cfg.External() {
		return startExternal(ctx, cfg)
	}

	dir, remove, err := socketDir(cfg.SocketDir)
	if err != nil {
		return nil, err
	}
	s := &Stores{Compacts: true, Private: true, remove: remove}
	for _, part := range []struct {
		name string
		into *Endpoint
	}{{"objects", &s.Objects}, {"events", &s.Events}} {
		i := &instance{socket: filepath.Join(dir, part.name+".sock")}
		if err := i.startFile(ctx, cfg, filepath.Join(cfg.Dir, part.name+".db")); err != nil {
			return nil, errors.Join(fmt.Errorf("start store of %s: %w", part.name, err), s.Close())
		}
		s.instances = append(s.instances, i)
		*part.into = i.endpoint()
	}

	return s, nil
}

// startExternal starts one Kine for both kinds of object, as two would share one table; none for a real etcd.
func startExternal(ctx context.Context, cfg Config) (*Stores, error) {
	if cfg.etcd() {
		etcd := Endpoint{Servers: strings.Split(cfg.Endpoint, ","), TLS: cfg.TLS}

		return &Stores{Objects: etcd, Events: etcd, remove: func() error { return nil }}, nil
	}

	dir, remove, err := socketDir(cfg.SocketDir)
	if err != nil {
		return nil, err
	}
	i := &instance{socket: filepath.Join(dir, "objects.sock")}
	if err := i.startExternal(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("start store on the external datastore: %w", err), remove())
	}

	return &Stores{
		Objects: i.endpoint(), Events: i.endpoint(), Compacts: true, instances: []*instance{i}, remove: remove,
	}, nil
}

// Close stops the stores in reverse order, waits until the databases are closed, and leaves each in one file.
func (s *Stores) Close() error {
	var errs []error
	for _, i := range slices.Backward(s.instances) {
		errs = append(errs, i.close())
	}
	s.instances = nil

	return errors.Join(append(errs, s.remove())...)
}
