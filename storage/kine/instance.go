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
	_ "github.com/k3s-io/kine/pkg/drivers/mysql"  // Registers itself.
	_ "github.com/k3s-io/kine/pkg/drivers/nats"   // Registers itself.
	_ "github.com/k3s-io/kine/pkg/drivers/pgsql"  // Registers itself.
	_ "github.com/k3s-io/kine/pkg/drivers/sqlite" // Registers itself.
	"github.com/k3s-io/kine/pkg/server"
	"github.com/k3s-io/kine/pkg/tls"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
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
	// file is the SQLite file and source how to open it; both are empty for an external datastore.
	file, source string
	socket       string

	server *grpc.Server
	stop   context.CancelFunc
	served chan error
	done   sync.WaitGroup
}

// startSQLite opens the file, made if it is not there, and serves it.
func (i *instance) startSQLite(ctx context.Context, cfg Config) error {
	if err := prepare(ctx, i.file, i.source); err != nil {
		return err
	}

	return i.start(ctx, cfg, "sqlite://"+i.source)
}

// start serves the datastore at a URL. ctx ends the attempt, which may take minutes if nobody answers there, but not
// what it has started: close does.
func (i *instance) start(ctx context.Context, cfg Config, url string) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	i.stop = stop
	started := context.AfterFunc(ctx, stop)
	listener, err := i.open(life, cfg, url)
	if !started() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		stop()
		i.done.Wait()
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}

		return err
	}
	i.served = make(chan error, 1)
	go func() { i.served <- i.server.Serve(listener) }()

	return nil
}

// open connects to the datastore and takes the socket.
func (i *instance) open(ctx context.Context, cfg Config, url string) (net.Listener, error) {
	_, backend, err := drivers.New(ctx, &i.done, &drivers.Config{
		Endpoint:         url,
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

	i.server = newServer()
	server.New(backend, "unix", cfg.NotifyInterval, cfg.EmulatedETCDVersion).Register(i.server)
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
func (i *instance) close(ctx context.Context) error {
	force := time.AfterFunc(gracefulStopPeriod, i.server.Stop)
	i.server.GracefulStop()
	force.Stop()
	err := <-i.served
	i.stop()
	i.done.Wait()
	if err != nil {
		return fmt.Errorf("serve datastore: %w", err)
	}
	if i.file == "" {
		return nil
	}

	return checkpoint(context.WithoutCancel(ctx), i.file, i.source)
}
