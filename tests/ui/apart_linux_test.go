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

	"golang.org/x/sys/unix"
)

// startApart starts a command in a network namespace of its own. There is nothing but a loopback interface, on which the given
// addresses of this machine's loopback interface answer as they do here. A browser ends all its requests when an interface of the machine comes or
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
			if err := raiseLoopback(); err != nil {
				return fmt.Errorf("raise the loopback interface: %w", err)
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

// raiseLoopback raises the loopback interface in the network namespace of the thread.
func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)

	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback)
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
