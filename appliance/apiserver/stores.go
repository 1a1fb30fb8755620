// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/url"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"

	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// stores returns a dialer for the stores in this process by their names; nil if there are none.
func (c Config) stores() egressselector.Lookup {
	dialers := map[string]utilnet.DialFunc{}
	for _, store := range []kine.Endpoint{c.Objects, c.Events} {
		for _, server := range store.Servers {
			if address, err := url.Parse(server); err == nil && store.Dial != nil {
				dialers[address.Host] = store.Dial
			}
		}
	}
	if len(dialers) == 0 {
		return nil
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		known, ok := dialers[address]
		if !ok {
			return nil, fmt.Errorf("there is no store %q", address)
		}

		return known(ctx, network, address)
	}

	return func(egressselector.NetworkContext) (utilnet.DialFunc, error) { return dial, nil }
}

// logs returns the logs of the stores of this process.
func (c Config) logs() fresh.Logs {
	logs := fresh.Logs{}
	for _, store := range []kine.Endpoint{c.Objects, c.Events} {
		if store.Log != nil {
			logs[store.Servers[0]] = fresh.Source{Log: store.Log, Client: store.Direct}
		}
	}

	return logs
}
