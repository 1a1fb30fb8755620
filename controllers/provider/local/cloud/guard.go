// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/guard"
)

const (
	dialTimeout = 5 * time.Second
	keepAlive   = 30 * time.Second
)

// dialer connects to addresses that users may name, in whatever way they name them.
func dialer(refused []netip.Prefix) func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, ControlContext: guard.Guard{Networks: refused}.Control}).DialContext
}
