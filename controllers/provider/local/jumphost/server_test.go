// SPDX-License-Identifier: Apache-2.0

package jumphost_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/jumphost"
)

func newKey(t *testing.T) (signer ssh.Signer, encoded []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err = ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// host is a server that listens, with the key of its client.
type host struct {
	address string
	key     ssh.Signer
	client  ssh.Signer
	stop    func()
}

// node answers every connection with what it was asked for.
func node(t *testing.T) (dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	t.Helper()
	return func(_ context.Context, _, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "10.9.") {
			return nil, errors.New("no route")
		}
		near, far := net.Pipe()
		go func() {
			defer far.Close() //nolint:errcheck // the end of a test
			_, _ = io.WriteString(far, "this is "+address)
		}()
		return near, nil
	}
}

func start(t *testing.T) host {
	t.Helper()
	return startWith(t, node(t))
}

func startWith(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) host {
	t.Helper()
	h := host{}
	var private []byte
	h.key, private = newKey(t)
	h.client, _ = newKey(t)
	config, err := jumphost.NewConfig(private, jumphost.Rules{
		Keys:    []string{string(ssh.MarshalAuthorizedKey(h.client.PublicKey()))},
		Ingress: []networkingv1.IPBlock{{CIDR: "127.0.0.0/8", Except: []string{"127.0.0.2/32"}}}, Nodes: []string{"10.0.0.0/8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- (&jumphost.Server{Config: config, Log: logr.Discard(), Dial: dial}).Serve(ctx, listener)
	}()
	stopped := false
	h.stop = func() {
		if cancel(); stopped {
			return
		}
		stopped = true
		if err := <-ended; err != nil {
			t.Errorf("Serve(...) = %v", err)
		}
	}
	t.Cleanup(h.stop)
	return h
}

// connect logs in from an address.
func (h host) connect(t *testing.T, from, user string, key ssh.Signer) (*ssh.Client, error) {
	t.Helper()
	conn, err := (&net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))}).DialContext(t.Context(), "tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, h.address, &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.FixedHostKey(h.key.PublicKey()), Timeout: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	return ssh.NewClient(c, channels, requests), nil
}

func TestForwards_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	h := start(t)
	client, err := h.connect(t, "127.0.0.1", "gardener", h.client)
	if err != nil {
		t.Fatal(err)
	}
	// Connections are independent of each other.
	for _, to := range []string{"10.1.2.3:22", "10.1.2.4:22"} {
		conn, err := client.DialContext(t.Context(), "tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if diff := cmp.Diff("this is "+to, string(got)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestForwardsNothingElse_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	h := start(t)
	client, err := h.connect(t, "127.0.0.1", "gardener", h.client)
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{
		"10.1.2.3:10250": "not port 22 of a node",
		"127.0.0.1:22":   "not port 22 of a node",
		"node-1:22":      "use the address of the node",
		"10.9.0.1:22":    "does not answer",
	} {
		if _, err := client.DialContext(t.Context(), "tcp", to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("connection to %s: %v, want an error with %q", to, err, want)
		}
	}
	if _, err := client.NewSession(); err == nil || !strings.Contains(err.Error(), "gives no shell") {
		t.Errorf("a shell: %v", err)
	}
	if _, err := client.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("the host listens for a client")
	}
}

// TestForwardsNotWithoutEnd_EXT_BUCKET_5: what a node does not take is kept in memory, and the owner of a shoot has both ends.
func TestForwardsNotWithoutEnd_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	held := make(chan net.Conn, 100)
	h := startWith(t, func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		held <- far
		return near, nil
	})
	client, err := h.connect(t, "127.0.0.1", "gardener", h.client)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if _, err := client.DialContext(t.Context(), "tcp", "10.1.2.3:22"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.DialContext(t.Context(), "tcp", "10.1.2.3:22"); err == nil || !strings.Contains(err.Error(), "one client has at most") {
		t.Errorf("one connection more: %v", err)
	}
	other, err := h.connect(t, "127.0.0.1", "gardener", h.client)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.DialContext(t.Context(), "tcp", "10.1.2.3:22"); err != nil {
		t.Errorf("another client: %v", err)
	}
}

func TestOnlyItsKeyAndUser_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	h := start(t)
	stranger, _ := newKey(t)
	for name, tc := range map[string]struct {
		user string
		key  ssh.Signer
	}{
		"another key": {user: "gardener", key: stranger}, "another user": {user: "root", key: h.client},
	} {
		if _, err := h.connect(t, "127.0.0.1", tc.user, tc.key); err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusedAddress_EXT_BUCKET_5 connects from an address that is not let in, with the right key: not a byte comes back.
func TestRefusedAddress_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	h := start(t)
	if _, err := h.connect(t, "127.0.0.2", "gardener", h.client); err == nil {
		t.Fatal("an address that is excluded has logged in")
	}
	dialer := &net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.2:0"))}
	conn, err := dialer.DialContext(t.Context(), "tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the end of a test
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("the server said %q", got)
	}
}

func TestStopDisconnects(t *testing.T) {
	t.Parallel()
	h := start(t)
	client, err := h.connect(t, "127.0.0.1", "gardener", h.client)
	if err != nil {
		t.Fatal(err)
	}
	h.stop()
	if err := client.Wait(); err == nil {
		t.Error("the connection has not ended with the server")
	}
}

func TestNewConfig(t *testing.T) {
	t.Parallel()
	_, private := newKey(t)
	client, _ := newKey(t)
	whole := jumphost.Rules{
		Keys:    []string{string(ssh.MarshalAuthorizedKey(client.PublicKey()))},
		Ingress: []networkingv1.IPBlock{{CIDR: "192.0.2.0/24"}, {CIDR: "2001:db8::/32"}}, Nodes: []string{"10.0.0.0/8"},
	}
	cases := map[string]struct {
		reason string
		change func(r *jumphost.Rules)
		want   string
	}{
		"NoKey":      {reason: "nobody could connect", change: func(r *jumphost.Rules) { r.Keys = nil }, want: "need keys"},
		"Nonsense":   {reason: "half of the keys would be a surprise", change: func(r *jumphost.Rules) { r.Keys = append(r.Keys, "hello") }, want: "keys[1]: "},
		"NoIngress":  {reason: "nor from anywhere", change: func(r *jumphost.Rules) { r.Ingress = nil }, want: "networks of clients"},
		"BadIngress": {reason: "it says which", change: func(r *jumphost.Rules) { r.Ingress[0].CIDR = "home" }, want: `"home" is not a network`},
		"BadNodes":   {reason: "it says where", change: func(r *jumphost.Rules) { r.Nodes[0] = "x" }, want: "nodes: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := jumphost.Rules{Keys: slices.Clone(whole.Keys), Ingress: slices.Clone(whole.Ingress), Nodes: slices.Clone(whole.Nodes)}
			tc.change(&rules)
			if _, err := jumphost.NewConfig(private, rules); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nNewConfig(...) = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	if _, err := jumphost.NewConfig([]byte("secret"), whole); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a bad private key: %v", err)
	}
	config, err := jumphost.NewConfig(private, whole)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, from := range []string{"192.0.2.9", "::ffff:192.0.2.9", "192.0.3.1", "2001:db8::1", "2001:db9::1"} {
		got[from] = config.Admits(netip.MustParseAddr(from))
	}
	want := map[string]bool{"192.0.2.9": true, "::ffff:192.0.2.9": true, "192.0.3.1": false, "2001:db8::1": true, "2001:db9::1": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Admits(...) (-want +got):\n%s", diff)
	}
}
