// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/k3s-io/kine/pkg/drivers/generic"
	"github.com/k3s-io/kine/pkg/endpoint"
	"github.com/k3s-io/kine/pkg/tls"
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

	instances []*instance
	remove    func() error
}

// instance is one running Kine.
type instance struct {
	file, source string
	socket       string
	etcd         endpoint.ETCDConfig
	stop         context.CancelFunc
	done         sync.WaitGroup
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
	s := &Stores{Compacts: true, remove: remove}
	for _, part := range []struct {
		name string
		into *Endpoint
	}{{"objects", &s.Objects}, {"events", &s.Events}} {
		i := &instance{
			file:   filepath.Join(cfg.Dir, part.name+".db"),
			socket: filepath.Join(dir, part.name+".sock"),
		}
		i.source = cfg.dataSource(i.file)
		if err := i.startSQLite(ctx, cfg); err != nil {
			return nil, errors.Join(fmt.Errorf("start store of %s: %w", part.name, err), s.Close(ctx))
		}
		s.instances = append(s.instances, i)
		part.into.Servers = i.etcd.Endpoints
	}

	return s, nil
}

// startExternal starts one Kine for both kinds of object, as two would share one table; none for a real etcd.
func startExternal(ctx context.Context, cfg Config) (*Stores, error) {
	dir, remove, err := socketDir(cfg.SocketDir)
	if err != nil {
		return nil, err
	}
	i := &instance{socket: filepath.Join(dir, "objects.sock")}
	if err := i.listen(ctx, cfg, cfg.Endpoint); err != nil {
		return nil, errors.Join(fmt.Errorf("start store on the external datastore: %w", err), remove())
	}

	s := &Stores{Compacts: true, instances: []*instance{i}, remove: remove}
	s.Objects.Servers = i.etcd.Endpoints
	if cfg.etcd() {
		s.Compacts, s.Objects.TLS = false, cfg.TLS
	}
	s.Events = s.Objects

	return s, nil
}

// Close stops the stores in reverse order, waits until the databases are closed, and leaves each in one file.
// ctx bounds the last step only.
func (s *Stores) Close(ctx context.Context) error {
	var errs []error
	for _, i := range slices.Backward(s.instances) {
		errs = append(errs, i.close(ctx))
	}
	s.instances = nil

	return errors.Join(append(errs, s.remove())...)
}

func (i *instance) startSQLite(ctx context.Context, cfg Config) error {
	if err := prepare(ctx, i.file, i.source); err != nil {
		return err
	}

	return i.listen(ctx, cfg, "sqlite://"+i.source)
}

func (i *instance) listen(ctx context.Context, cfg Config, url string) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	etcd, err := endpoint.Listen(life, endpoint.Config{
		WaitGroup:           &i.done,
		Listener:            "unix://" + i.socket,
		Endpoint:            url,
		BackendTLSConfig:    tls.Config{CAFile: cfg.TLS.CAFile, CertFile: cfg.TLS.CertFile, KeyFile: cfg.TLS.KeyFile},
		NotifyInterval:      cfg.NotifyInterval,
		EmulatedETCDVersion: cfg.EmulatedETCDVersion,
		CompactInterval:     cfg.CompactInterval,
		CompactTimeout:      cfg.CompactTimeout,
		CompactMinRetain:    cfg.CompactMinRetain,
		CompactBatchSize:    cfg.CompactBatchSize,
		PollBatchSize:       cfg.PollBatchSize,
		ConnectionPoolConfig: generic.ConnectionPoolConfig{
			MaxOpen: cfg.MaxOpenConnections,
			MaxIdle: cfg.MaxOpenConnections,
		},
	})
	if err != nil {
		stop()
		i.done.Wait()

		return err
	}
	i.etcd, i.stop = etcd, stop

	return nil
}

func (i *instance) close(ctx context.Context) error {
	i.stop()
	i.done.Wait()
	if err := os.Remove(i.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove socket: %w", err)
	}
	if i.file == "" {
		return nil
	}

	return checkpoint(context.WithoutCancel(ctx), i.file, i.source)
}
