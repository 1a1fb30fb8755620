// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"net/url"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// etcd is an etcd in this process, on its own ports and files.
type etcd struct {
	config *embed.Config
	server *embed.Etcd
}

// newEtcd starts an etcd, with TLS in both directions if there are certificates.
func newEtcd(t *testing.T, keys *certificates) *etcd {
	t.Helper()
	c := embed.NewConfig()
	c.Dir = t.TempDir()
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client, peer := url.URL{Scheme: "http", Host: freeAddress(t)}, url.URL{Scheme: "http", Host: freeAddress(t)}
	if keys != nil {
		client.Scheme = "https"
		c.ClientTLSInfo = transport.TLSInfo{
			CertFile: keys.server.certFile, KeyFile: keys.server.keyFile, TrustedCAFile: keys.authorityFile, ClientCertAuth: true,
		}
	}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.Name + "=" + peer.String()
	e := &etcd{config: c}
	e.start(t)
	t.Cleanup(func() { e.stop(t) })

	return e
}

func (e *etcd) start(t *testing.T) {
	t.Helper()
	c := *e.config
	server, err := embed.StartEtcd(&c)
	if err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		server.Close()
		t.Fatal("start etcd: not ready after a minute")
	}
	e.server = server
}

func (e *etcd) stop(*testing.T) {
	if e.server != nil {
		e.server.Close()
		e.server = nil
	}
}

func (e *etcd) endpoint() string { return e.config.AdvertiseClientUrls[0].String() }
