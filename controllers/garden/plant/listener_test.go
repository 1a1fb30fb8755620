// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"net"
	"sync/atomic"
)

// counting counts the connections that a listener accepts.
type counting struct {
	net.Listener

	accepted *atomic.Int64
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.accepted.Add(1)
	}
	return conn, err
}
