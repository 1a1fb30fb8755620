// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/k3s-io/kine/pkg/drivers"
	"github.com/k3s-io/kine/pkg/drivers/generic"
	_ "github.com/k3s-io/kine/pkg/drivers/mysql" // Registers itself.
	_ "github.com/k3s-io/kine/pkg/drivers/pgsql" // Registers itself.
	"github.com/k3s-io/kine/pkg/server"
	"github.com/k3s-io/kine/pkg/tls"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"

	"github.com/terrarium-garden/terrarium/storage/kine/direct"
	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/storage/log/etcdwatch"
)

// Values of etcd that the API server relies on.
const (
	maxRequestBytes    = 1536*1024 + 512*1024
	maxResponseBytes   = 1<<31 - 1
	keepAliveMinTime   = 5 * time.Second
	keepAliveInterval  = 2 * time.Hour
	keepAliveTimeout   = 20 * time.Second
	gracefulStopPeriod = 2 * time.Second
	connectionBytes    = 32 << 10
)

// instance is one running Kine: a database, and a server of the etcd protocol in front of it that can be reached only from
// this process. It is built here from Kine's packages, because Kine's own constructor links all database drivers and an
// etcd.
type instance struct {
	// name identifies the instance within the process.
	name string
	// listener is the in-memory listener of the server.
	listener *bufconn.Listener

	// log is the log of a store in a file, nil for an external datastore.
	log *log.Log
	// direct lets clients of this process call the servers of the log, nil for an external datastore.
	direct *direct.Server
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

// start opens a datastore and serves it. ctx limits the attempt, which may take minutes if the datastore does not answer,
// but not the lifetime of the instance, which ends with close.
func (i *instance) start(ctx context.Context, open opener) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	i.stop = stop
	started := context.AfterFunc(ctx, stop)
	var err error
	i.server, err = open(life)
	if !started() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		stop()
		i.done.Wait()
		if i.log != nil {
			err = errors.Join(err, i.log.Close())
		}

		return err
	}
	i.listener = bufconn.Listen(connectionBytes)
	i.served = make(chan error, 1)
	go func() { i.served <- i.server.Serve(i.listener) }()

	return nil
}

// openFile opens a log. Kine serves its keys and values, and package etcdwatch its watches.
func (i *instance) openFile(ctx context.Context, cfg Config, file string) (*grpc.Server, error) {
	settings := log.NewConfig(file)
	settings.Log, settings.HistoryBytes = cfg.Log, cfg.HistoryBytes
	if cfg.Tune != nil {
		cfg.Tune(&settings)
	}
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
	bridge := server.New(backend, "http", cfg.NotifyInterval, cfg.EmulatedETCDVersion)
	etcdserverpb.RegisterKVServer(s, bridge)
	etcdserverpb.RegisterLeaseServer(s, bridge)
	etcdserverpb.RegisterClusterServer(s, bridge)
	etcdserverpb.RegisterMaintenanceServer(s, bridge)
	watches := &etcdwatch.Server{
		Source: opened, NotifyInterval: cfg.NotifyInterval, Clock: settings.Clock, Log: cfg.Log,
		Pause: settings.Pause,
	}
	etcdserverpb.RegisterWatchServer(s, watches)
	i.direct = &direct.Server{
		KV: bridge, Lease: bridge, Watch: watches, Maintenance: bridge, Name: i.address(), MaxRequestBytes: maxRequestBytes,
	}

	return s, nil
}

// openExternal connects to the datastore at a URL, which Kine serves completely.
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
	if cfg.MySQL() {
		if err := keysByBytes(ctx, cfg); err != nil {
			return nil, err
		}
	}
	if err := backend.Start(ctx); err != nil {
		return nil, fmt.Errorf("start datastore: %w", err)
	}
	s := newServer()
	server.New(backend, "http", cfg.NotifyInterval, cfg.EmulatedETCDVersion).Register(s)

	return s, nil
}

func newServer() *grpc.Server {
	return grpc.NewServer(
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepAliveMinTime}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepAliveInterval, Timeout: keepAliveTimeout}),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxSendMsgSize(maxResponseBytes),
	)
}

// address is the URL by which clients know the server.
func (i *instance) address() string { return "http://" + i.name }

// endpoint returns the endpoint for etcd clients.
func (i *instance) endpoint() Endpoint {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return i.listener.DialContext(ctx) }

	e := Endpoint{Servers: []string{i.address()}, Dial: dial, Log: i.log}
	if i.direct != nil {
		e.Direct = i.direct.Client
	}

	return e
}

// close waits for a limited time for requests in flight, then closes the database and moves its write-ahead log into it.
func (i *instance) close() error {
	if i.direct != nil {
		i.direct.Close(gracefulStopPeriod)
	}
	force := time.AfterFunc(gracefulStopPeriod, i.server.Stop)
	i.server.GracefulStop()
	force.Stop()
	err := <-i.served
	i.stop()
	i.done.Wait()
	if errors.Is(err, grpc.ErrServerStopped) {
		err = nil // It was stopped before it began to serve.
	}
	if err != nil {
		err = fmt.Errorf("serve datastore: %w", err)
	}
	if i.log == nil {
		return err
	}

	return errors.Join(err, i.log.Close())
}
