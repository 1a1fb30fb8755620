// SPDX-License-Identifier: Apache-2.0

package defragment_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/defragment"
)

// machine is that of a member. Once it has died nothing comes from it any more, and its connections stay.
type machine struct {
	net.Listener

	dead atomic.Bool
}

// Accept implements net.Listener.
func (m *machine) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	return connection{c, m}, err
}

type connection struct {
	net.Conn

	at *machine
}

// Write implements net.Conn.
func (c connection) Write(b []byte) (int, error) {
	if c.at.dead.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// dying is a member whose machine dies when it is asked to defragment itself.
type dying struct {
	*etcdserverpb.UnimplementedMaintenanceServer

	at *machine
}

// Defragment implements etcdserverpb.MaintenanceServer.
func (d dying) Defragment(ctx context.Context, _ *etcdserverpb.DefragmentRequest) (*etcdserverpb.DefragmentResponse, error) {
	d.at.dead.Store(true)
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestMachineDies: a member whose machine dies in its defragmentation is soon left. Five such ones would hold up the etcds of all others.
func TestMachineDies_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := &machine{Listener: listener}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12})))
	etcdserverpb.RegisterMaintenanceServer(server, dying{at: at})
	served := make(chan error, 1)
	go func() { served <- server.Serve(at) }()
	defer func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	trusted := x509.NewCertPool()
	trusted.AddCert(certified.Certificate())
	config := &tls.Config{RootCAs: trusted, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	bound, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = defragment.DefragmentMember(bound, "https://"+listener.Addr().String(), config)
	if err == nil || bound.Err() != nil {
		t.Errorf("DefragmentMember(...): got %v, and the time is over: %v; want that the member is left before", err, bound.Err())
	}
}
