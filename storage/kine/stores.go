// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/terrarium-garden/terrarium/storage/kine/direct"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// Endpoint is where an etcd client finds a store.
type Endpoint struct {
	// Servers are URLs.
	Servers []string
	// Dial connects to the server, which is in this process; nil for an external etcd.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Direct makes clients that need no connection to the server; nil for an external datastore. Their callers close them.
	Direct func() *direct.Client
	// TLS is set for an external etcd.
	TLS TLS
	// Log is the log of the store, nil for an external datastore.
	Log *log.Log
}

// Client connects to the store as any client of etcd does. The caller closes it.
func (e Endpoint) Client() (*clientv3.Client, error) {
	c := clientv3.Config{Endpoints: e.Servers, DialTimeout: dialTimeout, Logger: zap.NewNop()}
	if e.Dial != nil {
		c.DialOptions = []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return e.Dial(ctx, "tcp", address)
		})}
	}
	if e.TLS != (TLS{}) {
		config, err := transport.TLSInfo{CertFile: e.TLS.CertFile, KeyFile: e.TLS.KeyFile, TrustedCAFile: e.TLS.CAFile}.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("read certificates of the datastore: %w", err)
		}
		c.TLS = config
	}
	client, err := clientv3.New(c)
	if err != nil {
		return nil, fmt.Errorf("connect to store: %w", err)
	}

	return client, nil
}

// dialTimeout is the timeout for connecting to a store.
const dialTimeout = 10 * time.Second

// Stores are the running databases of a garden.
type Stores struct {
	// Objects keeps everything but Events.
	Objects Endpoint
	// Events keeps Events; it is the same as Objects with an external datastore.
	Events Endpoint
	// Compacts says that the stores compact themselves. It is false for a real etcd, which the API server has to compact.
	Compacts bool
	// External is the place of an external datastore, nil for the databases of this machine.
	External *Place

	instances []*instance

	mutex  sync.Mutex
	client *clientv3.Client
}

// Start opens the stores and returns once they serve. Cancelling ctx does not stop them, so that their clients can be
// stopped first; use Close.
func Start(ctx context.Context, cfg Config) (*Stores, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("datastore: %w", err)
	}
	if cfg.External() {
		return startExternal(ctx, cfg)
	}

	s := &Stores{Compacts: true}
	for _, part := range []struct {
		name string
		into *Endpoint
	}{{"objects", &s.Objects}, {"events", &s.Events}} {
		i := &instance{name: part.name}
		if err := i.startFile(ctx, cfg, filepath.Join(cfg.Dir, part.name+".db")); err != nil {
			return nil, errors.Join(fmt.Errorf("start store of %s: %w", part.name, err), s.Close())
		}
		s.instances = append(s.instances, i)
		*part.into = i.endpoint()
	}

	return s, nil
}

// Close stops the stores in reverse order and waits until the databases are closed, each of which is then a single file.
func (s *Stores) Close() error {
	errs := []error{s.disconnect()}
	for _, i := range slices.Backward(s.instances) {
		errs = append(errs, i.close())
	}
	s.instances = nil

	return errors.Join(errs...)
}
