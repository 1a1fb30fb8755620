// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// place is a network namespace that only the test sees. What runs in it runs on its thread, which is never given back: it ends with the
// test, and the namespace with it.
type place struct {
	work chan func()
	// thread is the id by which other places know this one.
	thread int
}

// newPlace returns a place with the loopback device.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{work: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread()
		p.thread = unix.Gettid()
		made <- unix.Unshare(unix.CLONE_NEWNET)
		for f := range p.work {
			f()
		}
	}()
	if err := <-made; err != nil {
		t.Skipf("no network namespace can be made here: %v", err)
	}
	t.Cleanup(func() { close(p.work) })
	p.ip(t, "link", "set", "lo", "up")
	return p
}

// do runs f in the place.
func (p *place) do(f func()) {
	done := make(chan struct{})
	p.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

func (p *place) ip(t *testing.T, args ...string) {
	t.Helper()
	var output []byte
	var err error
	p.do(func() { output, err = exec.CommandContext(t.Context(), "ip", args...).CombinedOutput() })
	if err != nil {
		t.Fatalf("ip %v: %v: %s", args, err, output)
	}
}

// listen accepts connections to all addresses of the place, and closes them.
func (p *place) listen(t *testing.T, port int) {
	t.Helper()
	var listener net.Listener
	var err error
	p.do(func() {
		listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp4", net.JoinHostPort("", strconv.Itoa(port)))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
}

// connect tries to connect from the place. It returns whether it can, and whether a refusal was an answer.
func (p *place) connect(ctx context.Context, to netip.Addr, port uint16) (connected, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var c net.Conn
	var err error
	p.do(func() { c, err = new(net.Dialer).DialContext(ctx, "tcp4", netip.AddrPortFrom(to, port).String()) })
	if err == nil {
		return c.Close() == nil, true
	}
	return false, errors.Is(err, unix.EHOSTUNREACH)
}

// machine is a place with a bridge to which pods are connected.
type machine struct {
	*place

	pods map[string]*place
}

const (
	bridge = "seedling0"
	filter = "/proc/sys/net/bridge/bridge-nf-call-iptables"
	// limit is how many milliseconds have to be between two answers to the same sender, which would only make tests slow.
	limit = "/proc/sys/net/ipv4/icmp_ratelimit"
)

func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a network namespace")
	}
	for _, program := range []string{"ip", "nft"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	_ = exec.CommandContext(t.Context(), "modprobe", "br_netfilter").Run()
	m := &machine{place: newPlace(t), pods: map[string]*place{}}
	m.ip(t, "link", "add", bridge, "type", "bridge")
	m.ip(t, "address", "add", node.String()+"/24", "dev", bridge)
	m.ip(t, "link", "set", bridge, "up")
	var err error
	m.do(func() {
		err = errors.Join(os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0),
			os.WriteFile(filter, []byte("1"), 0), os.WriteFile(limit, []byte("0"), 0))
	})
	if err != nil {
		t.Skipf("the packet filter cannot see bridged packets here: %v", err)
	}
	return m
}

// connectPod makes the network of a pod.
func (m *machine) connectPod(t *testing.T, name string, address netip.Addr) *place {
	t.Helper()
	p := newPlace(t)
	m.pods[name] = p
	host := "veth" + name
	m.ip(t, "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(p.thread))
	m.ip(t, "link", "set", host, "master", bridge, "up")
	p.ip(t, "address", "add", address.String()+"/24", "dev", "eth0")
	p.ip(t, "link", "set", "eth0", "up")
	p.ip(t, "route", "add", "default", "via", node.String())
	return p
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v: %s", program, args, err, output)
	}
	return string(output)
}
