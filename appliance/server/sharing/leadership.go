// SPDX-License-Identifier: Apache-2.0

package sharing

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

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/standby"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/leader"
)

// releaseLimit is how long a server that stops tries to give the lead back.
const releaseLimit = 3 * time.Second

// Leadership has one of the servers that share an external datastore lead. Only this one has an API server and controllers: rules that look at
// several objects, such as that no two shoots have the same domain, are decided in its memory. The others forward their connections to it.
type Leadership struct {
	Clock clock.PassiveClock
	Log   logr.Logger
	// Program is this program. It does not lead where a newer version has.
	Program upgrade.Program
	// Keys are the keys of the garden, which all servers share.
	Keys *identity.Garden
	// Listener has the port, and Local is the URL of this server for clients on this machine.
	Listener net.Listener
	Local    string
	// AdvertiseAddress is the address at which other servers reach this one, with or without a port; if empty, it is found out.
	AdvertiseAddress string
	// Holders are filled with the servers that are seen while this one leads.
	Holders *Holders
	// TakenUp is called when keys were taken up while this server leads.
	TakenUp func()
	// Standby is called when another server leads.
	Standby func()
	// Stopping has something called as soon as the server is to stop; what it returns takes that back.
	Stopping func(do func()) (forget func() bool)
}

// Run waits until this server leads, and gives the stores to those who may write then. With SQLite there is only one server, and nothing to
// wait for. It stops after all that depends on it.
func (l *Leadership) Run(ctx context.Context, stores *kine.Stores, ready func(*kine.Stores)) error {
	if stores.External == nil {
		if err := l.Keys.Sharing.Grow(); err != nil {
			return err
		}
		ready(stores)
		<-ctx.Done()

		return nil
	}
	lease, shared, err := l.lead(ctx, stores)
	if err != nil || lease == nil {
		return err
	}
	told, stop := context.WithCancel(ctx)
	publishing, end := context.WithCancel(told)
	defer end()
	defer l.Stopping(end)()
	l.Keys.Sharing.Share(shared.publish(publishing))
	var telling sync.WaitGroup
	telling.Go(func() { shared.keep(told) })
	defer telling.Wait()
	defer stop()
	gate := &kine.Gate{}
	stores.Objects, stores.Events = gate.Guard(stores.Objects), gate.Guard(stores.Events)
	ready(stores)
	err = lease.Keep(ctx, func() {
		gate.Shut()
		l.Log.Info("The lease was not renewed in time; nothing is written until it is")
	}, func() {
		gate.Open()
		l.Log.Info("The lease is renewed; this server goes on")
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
func (l *Leadership) lead(ctx context.Context, stores *kine.Stores) (*leader.Lease, *member, error) {
	client, err := stores.Connection()
	if err != nil {
		return nil, nil, err
	}
	self := leader.Holder{ID: string(uuid.NewUUID()), Address: l.advertised(ctx, stores)}
	if err := l.Keys.Certificates.WriteAdminKubeconfig(l.Local); err != nil {
		return nil, nil, err
	}
	waiting, err := standby.OpenForwarder(l.Listener, l.Keys, self.Address)
	if err != nil {
		return nil, nil, err
	}
	defer waiting.Close()
	shared := newMember(l, generations.Datastore{Client: client}, generations.Server{Address: self.Address, ID: self.ID})
	c := leader.NewConfig(client, self)
	var last string
	c.Seen = func(h leader.Holder) {
		waiting.Follow(h.Address)
		if h.ID != last {
			l.Log.Info("Another server leads; connections are forwarded to it", "leader", h.Address, "self", self.Address)
			l.Standby()
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
			l.Log.Info("This server leads", "self", self.Address)

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
func (l *Leadership) advertised(ctx context.Context, stores *kine.Stores) string {
	bound, ok := l.Listener.Addr().(*net.TCPAddr)
	if !ok {
		return l.Listener.Addr().String()
	}
	port := strconv.Itoa(bound.Port)
	if given := l.AdvertiseAddress; given != "" {
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
