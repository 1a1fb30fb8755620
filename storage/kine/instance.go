// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/k3s-io/kine/pkg/drivers"
	"github.com/k3s-io/kine/pkg/drivers/generic"
	_ "github.com/k3s-io/kine/pkg/drivers/mysql" // Registers itself.
	_ "github.com/k3s-io/kine/pkg/drivers/nats"  // Registers itself.
	_ "github.com/k3s-io/kine/pkg/drivers/pgsql" // Registers itself.
	"github.com/k3s-io/kine/pkg/server"
	"github.com/k3s-io/kine/pkg/tls"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/storage/log/etcdwatch"
)

// What etcd does for its clients, and the API server relies on.
const (
	maxRequestBytes    = 1536*1024 + 512*1024
	maxResponseBytes   = 1<<31 - 1
	keepAliveMinTime   = 5 * time.Second
	keepAliveInterval  = 2 * time.Hour
	keepAliveTimeout   = 20 * time.Second
	gracefulStopPeriod = 2 * time.Second
)

// instance is one running Kine: a database, and a server of the etcd protocol on a unix socket in front of it. It is
// built here from Kine's parts, as Kine's own way of doing so links every database that there is, and an etcd.
type instance struct {
	socket string

	// log is what is served from a file, nil for an external datastore.
	log    *log.Log
	server *grpc.Server
	stop   context.CancelFunc
	served chan error
	done   sync.WaitGroup
}

// opener connects to a datastore and returns the server in front of it.
type opener func(ctx context.Context) (*grpc.Server, error)

// startFile serves a log in a file, which is created if it does not exist.
func (i *instance) startFile(ctx context.Context, cfg Config, file string) error {
	return i.start(ctx, func(ctx context.Context) (*grpc.Server, error) { return i.openFile(ctx, cfg, file) })
}

// startExternal serves the datastore at a URL.
func (i *instance) startExternal(ctx context.Context, cfg Config) error {
	return i.start(ctx, func(ctx context.Context) (*grpc.Server, error) { return i.openExternal(ctx, cfg) })
}

// start opens a datastore and serves it. ctx ends the attempt, which may take minutes if nobody answers there, but not
// what it has started: close does.
func (i *instance) start(ctx context.Context, open opener) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	i.stop = stop
	started := context.AfterFunc(ctx, stop)
	listener, err := i.listen(life, open)
	if !started() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		stop()
		i.done.Wait()
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		if i.log != nil {
			err = errors.Join(err, i.log.Close())
		}

		return err
	}
	i.served = make(chan error, 1)
	go func() { i.served <- i.server.Serve(listener) }()

	return nil
}

// openFile opens a log. Kine serves its keys and values, and a server of its own its watches.
func (i *instance) openFile(ctx context.Context, cfg Config, file string) (*grpc.Server, error) {
	settings := log.NewConfig(file)
	settings.Log = cfg.Log
	opened, err := log.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	i.log = opened
	backend := log.NewBackend(opened)
	if err := backend.Start(ctx); err != nil {
		return nil, fmt.Errorf("start datastore: %w", err)
	}
	s := newServer()
	bridge := server.New(backend, "memory", cfg.NotifyInterval, cfg.EmulatedETCDVersion)
	etcdserverpb.RegisterKVServer(s, bridge)
	etcdserverpb.RegisterLeaseServer(s, bridge)
	etcdserverpb.RegisterClusterServer(s, bridge)
	etcdserverpb.RegisterMaintenanceServer(s, bridge)
	etcdserverpb.RegisterWatchServer(s, &etcdwatch.Server{
		Source: opened, NotifyInterval: cfg.NotifyInterval, Clock: settings.Clock, Log: cfg.Log,
	})

	return s, nil
}

// openExternal connects to the datastore at a URL, which Kine serves whole.
func (i *instance) openExternal(ctx context.Context, cfg Config) (*grpc.Server, error) {
	_, backend, err := drivers.New(ctx, &i.done, &drivers.Config{
		Endpoint:         cfg.Endpoint,
		BackendTLSConfig: tls.Config{CAFile: cfg.TLS.CAFile, CertFile: cfg.TLS.CertFile, KeyFile: cfg.TLS.KeyFile},
		CompactInterval:  cfg.CompactInterval,
		CompactTimeout:   cfg.CompactTimeout,
		CompactMinRetain: cfg.CompactMinRetain,
		CompactBatchSize: cfg.CompactBatchSize,
		PollBatchSize:    cfg.PollBatchSize,
		ConnectionPoolConfig: generic.ConnectionPoolConfig{
			MaxOpen: cfg.MaxOpenConnections,
			MaxIdle: cfg.MaxOpenConnections,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to datastore: %w", err)
	}
	if err := backend.Start(ctx); err != nil {
		return nil, fmt.Errorf("start datastore: %w", err)
	}
	s := newServer()
	server.New(backend, "unix", cfg.NotifyInterval, cfg.EmulatedETCDVersion).Register(s)

	return s, nil
}

// listen opens the datastore and takes the socket.
func (i *instance) listen(ctx context.Context, open opener) (_ net.Listener, err error) {
	if i.server, err = open(ctx); err != nil {
		return nil, err
	}
	if err := os.Remove(i.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove socket of an earlier process: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", i.socket)
	if err != nil {
		return nil, fmt.Errorf("listen on socket: %w", err)
	}
	if err := os.Chmod(i.socket, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("close socket to others: %w", err), listener.Close())
	}

	return listener, nil
}

func newServer() *grpc.Server {
	return grpc.NewServer(
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepAliveMinTime}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepAliveInterval, Timeout: keepAliveTimeout}),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxSendMsgSize(maxResponseBytes),
	)
}

// endpoint is what an etcd client connects to.
func (i *instance) endpoint() Endpoint { return Endpoint{Servers: []string{"unix://" + i.socket}} }

// close lets requests in flight finish, for a while, then closes the database and moves its log into it.
func (i *instance) close() error {
	force := time.AfterFunc(gracefulStopPeriod, i.server.Stop)
	i.server.GracefulStop()
	force.Stop()
	err := <-i.served
	i.stop()
	i.done.Wait()
	if err != nil {
		return fmt.Errorf("serve datastore: %w", err)
	}
	if i.log == nil {
		return nil
	}

	return i.log.Close()
}
