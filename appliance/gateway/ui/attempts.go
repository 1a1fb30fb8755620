// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"net/http"
	"net/netip"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// failures may follow each other at once, then failuresPerSecond.
	failures          = 10
	failuresPerSecond = 0.5
	// maxClients is how many clients are remembered. Codes and tokens cannot be guessed, so it does no harm to forget one.
	maxClients = 1024
	// network is the size of the networks that home and office connections get for IPv6: a client has all of its addresses.
	network = 64
)

// attempts limits the failed sign-ins of a client, because each costs the verification of a signature.
type attempts struct {
	clock   clock.PassiveClock
	clients *lru.Cache
}

func newAttempts(clk clock.PassiveClock) *attempts {
	return &attempts{clock: clk, clients: lru.New(maxClients)}
}

func (a *attempts) allowed(r *http.Request) bool {
	limiter, ok := a.limiter(r)

	return !ok || limiter.TokensAt(a.clock.Now()) >= 1
}

func (a *attempts) failed(r *http.Request) {
	limiter, ok := a.limiter(r)
	if !ok {
		limiter = rate.NewLimiter(failuresPerSecond, failures)
		a.clients.Add(client(r), limiter)
	}
	limiter.AllowN(a.clock.Now(), 1)
}

func (a *attempts) limiter(r *http.Request) (*rate.Limiter, bool) {
	found, ok := a.clients.Get(client(r))
	if !ok {
		return nil, false
	}
	limiter, ok := found.(*rate.Limiter)

	return limiter, ok
}

// client returns the network of the client.
func client(r *http.Request) netip.Prefix {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address := from.Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = network
	}
	within, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}

	return within
}
