// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// startApart starts a command in a network namespace of its own. Nothing can be reached there but the given addresses of this machine's
// loopback interface, which answer as they do here. A browser ends all its requests when an interface of the machine comes or
// goes, as those of containers and seeds do; this one never sees one. Without the permission to make a namespace the command starts
// in the network of the machine.
func startApart(t *testing.T, command *exec.Cmd, addresses ...string) error {
	t.Helper()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // For ever: the thread ends with the goroutine, and nothing else runs in its network.
		started <- func() error {
			err := unix.Unshare(unix.CLONE_NEWNET)
			if errors.Is(err, unix.EPERM) {
				t.Log("the browser sees the network of the machine, because only root can make another one")

				return command.Start()
			} else if err != nil {
				return fmt.Errorf("make a network namespace: %w", err)
			}
			if err := raise(); err != nil {
				return fmt.Errorf("raise the interfaces of a network namespace: %w", err)
			}
			for _, address := range addresses {
				if err := forward(t, address); err != nil {
					return err
				}
			}

			return command.Start()
		}()
	}()

	return <-started
}

// raise raises the loopback interface in the network namespace of the thread, and another one that leads nowhere: a browser that has no other
// interface believes that it is offline, and does not notice when it gets there.
func raise() error {
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "nowhere"}, PeerName: "end"}); err != nil {
		return err
	}
	for name, address := range map[string]string{"lo": "", "end": "", "nowhere": "192.0.2.1/24"} {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if address != "" {
			parsed, err := netlink.ParseAddr(address)
			if err != nil {
				return err
			}
			if err := netlink.AddrAdd(link, parsed); err != nil {
				return err
			}
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
	}

	return nil
}

// forward listens at an address in the network namespace of the thread, and connects each client to the same address in the network
// of the machine.
func forward(t *testing.T, address string) error {
	t.Helper()
	ctx := t.Context()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go connect(ctx, client, address)
		}
	}()

	return nil
}

// connect copies between a client and an address until one of them ends, or the test.
func connect(ctx context.Context, client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
