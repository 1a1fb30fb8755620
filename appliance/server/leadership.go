// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/leader"
)

// releaseLimit is how long a server that stops tries to give the lead back.
const releaseLimit = 3 * time.Second

// runLeadership waits until this server leads all servers that share an external datastore. Only the server that leads has an API server
// and controllers: rules that look at several objects, such as that no two shoots have the same domain, are decided in its memory. The
// others forward their connections to it. With SQLite there is only one server, and nothing to wait for. It stops after all that depends on it.
func (s *server) runLeadership(ctx context.Context, d door, keys *identity.Garden, stores *kine.Stores, ready func(*kine.Stores)) error {
	if stores.External == nil {
		if err := keys.Sharing.Grow(); err != nil {
			return err
		}
		ready(stores)
		<-ctx.Done()

		return nil
	}
	lease, shared, err := s.lead(ctx, d, keys, stores)
	if err != nil || lease == nil {
		return err
	}
	told, stop := context.WithCancel(ctx)
	publishing, end := context.WithCancel(told)
	defer end()
	defer s.stopping(end)()
	keys.Sharing.Share(shared.publish(publishing))
	var telling sync.WaitGroup
	telling.Go(func() { shared.keep(told) })
	defer telling.Wait()
	defer stop()
	gate := &kine.Gate{}
	stores.Objects, stores.Events = gate.Guard(stores.Objects), gate.Guard(stores.Events)
	ready(stores)
	err = lease.Keep(ctx, func() {
		gate.Shut()
		s.Log.Info("The lease was not renewed in time; nothing is written until it is")
	}, func() {
		gate.Open()
		s.Log.Info("The lease is renewed; this server goes on")
	})
	if err != nil {
		return fmt.Errorf("lead: %w; this server has to start again", err)
	}
	// All that depends on the lease has stopped.
	gate.Shut()
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()

	return lease.Release(release)
}

// lead forwards connections to the server that leads until this one does, with the newest keys. It returns nothing if ctx ends before.
func (s *server) lead(ctx context.Context, d door, keys *identity.Garden, stores *kine.Stores) (*leader.Lease, *sharing, error) {
	client, err := stores.Connection()
	if err != nil {
		return nil, nil, err
	}
	self := leader.Holder{ID: string(uuid.NewUUID()), Address: s.advertised(ctx, d.listener, stores)}
	if err := keys.Certificates.WriteAdminKubeconfig(d.addresses.local); err != nil {
		return nil, nil, err
	}
	waiting, err := openStandby(d.listener, keys, self.Address)
	if err != nil {
		return nil, nil, err
	}
	defer waiting.close()
	shared := s.newSharing(keys, d.addresses.local, generations.Datastore{Client: client}, generations.Server{Address: self.Address, ID: self.ID})
	c := leader.NewConfig(client, self)
	var last string
	c.Seen = func(h leader.Holder) {
		waiting.follow(h.Address)
		if h.ID != last {
			s.Log.Info("Another server leads; connections are forwarded to it", "leader", h.Address, "self", self.Address)
			s.Standby()
		}
		last = h.ID
	}
	for {
		lease, err := shared.stand(ctx, c)
		if ctx.Err() != nil || err != nil {
			return nil, nil, err
		}
		err = shared.lead(ctx)
		if err == nil {
			s.Log.Info("This server leads", "self", self.Address)

			return lease, shared, nil
		}
		// Another one may be able to.
		if err := errors.Join(err, lease.Release(ctx)); hopeless(err) || ctx.Err() != nil {
			return nil, nil, err
		}
		shared.tell(ctx, err)
		// Who can lead takes the lease meanwhile.
		rest(ctx, generations.Interval)
	}
}

// advertised is the address at which other servers reach this one.
func (s *server) advertised(ctx context.Context, l net.Listener, stores *kine.Stores) string {
	bound, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return l.Addr().String()
	}
	port := strconv.Itoa(bound.Port)
	if given := s.Config.Datastore.AdvertiseAddress; given != "" {
		if _, _, err := net.SplitHostPort(given); err == nil {
			return given
		}

		return net.JoinHostPort(given, port)
	}
	if !bound.IP.IsUnspecified() {
		return net.JoinHostPort(bound.IP.String(), port)
	}

	return net.JoinHostPort(towards(ctx, stores.External.Address), port)
}

// towards is the address of this machine from which a datastore is reached. Nothing is sent.
func towards(ctx context.Context, place string) string {
	first, _, _ := strings.Cut(place, ",")
	host, _, _ := strings.Cut(first, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	c, err := new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(host, "9"))
	if err != nil {
		return "127.0.0.1"
	}
	defer c.Close() //nolint:errcheck // Nothing was sent.
	if at, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil {
		return at.Addr().Unmap().String()
	}

	return "127.0.0.1"
}
