// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/k3s-io/kine/pkg/drivers"
	"github.com/k3s-io/kine/pkg/drivers/generic"
	_ "github.com/k3s-io/kine/pkg/drivers/sqlite" // Registers itself.
	"github.com/k3s-io/kine/pkg/server"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

// backends are the stores that are compared, in one run, on the same disk.
var backends = []struct {
	name  string
	start func(b *testing.B, dir string) kine.Endpoint
}{
	{"Log", startLog},
	{"Kine", startKine},
	{"Etcd", startEtcd},
}

func startLog(b *testing.B, dir string) kine.Endpoint {
	b.Helper()
	stores, err := kine.Start(b.Context(), kine.NewConfig(filepath.Join(dir, "db")))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := stores.Close(); err != nil {
			b.Error(err)
		}
	})

	return stores.Objects
}

// startKine runs Kine's own log, with the settings that a garden had before it had its own.
func startKine(b *testing.B, dir string) kine.Endpoint {
	b.Helper()
	params := url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_busy_timeout": {"30000"}, "_txlock": {"immediate"},
		"_stmt_cache_size": {"20"}, "_kine_disable_startup_vacuum": {"true"},
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	var done sync.WaitGroup
	_, backend, err := drivers.New(ctx, &done, &drivers.Config{
		Endpoint:        "sqlite://" + filepath.Join(dir, "kine.db") + "?" + params.Encode(),
		CompactInterval: 5 * time.Minute, CompactTimeout: 5 * time.Second, CompactMinRetain: 1000, CompactBatchSize: 1000,
		PollBatchSize:        500,
		ConnectionPoolConfig: generic.ConnectionPoolConfig{MaxOpen: 16, MaxIdle: 16},
	})
	if err == nil {
		err = backend.Start(ctx)
	}
	if err != nil {
		b.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", filepath.Join(dir, "kine.sock"))
	if err != nil {
		b.Fatal(err)
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(2<<20), grpc.MaxSendMsgSize(1<<31-1))
	server.New(backend, "unix", 5*time.Second, "3.6.11").Register(s)
	go func() { _ = s.Serve(listener) }()
	b.Cleanup(func() {
		s.Stop()
		stop()
		done.Wait()
	})

	return kine.Endpoint{Servers: []string{"unix://" + listener.Addr().String()}}
}

func startEtcd(b *testing.B, dir string) kine.Endpoint {
	b.Helper()
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "etcd")
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client, peer := loopback(b), loopback(b)
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.Name + "=" + c.ListenPeerUrls[0].String()
	e, err := embed.StartEtcd(c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(time.Minute):
		b.Fatal(errors.New("etcd did not start"))
	}

	return kine.Endpoint{Servers: []string{client.String()}}
}

// loopback returns the URL of a port that was free a moment ago.
func loopback(b *testing.B) url.URL {
	b.Helper()
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()

	return url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// connect opens connections to a store. The API server has one for each kind, about a hundred; a few are enough here.
func connect(b *testing.B, endpoint kine.Endpoint, n int) []*clientv3.Client {
	b.Helper()
	clients := make([]*clientv3.Client, n)
	for i := range clients {
		c, err := endpoint.Client()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		clients[i] = c
	}

	return clients
}
