// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
)

// door asks for a bastion that accepts one address.
const door = `
apiVersion: operations.gardener.cloud/v1alpha1
kind: Bastion
metadata: {name: door, namespace: %s}
spec:
  shootRef: {name: %s}
  sshPublicKey: %q
  ingress: [{ipBlock: {cidr: %s/32}}]
`

// outsider is a pod elsewhere in the seed.
const outsider = `
apiVersion: v1
kind: Pod
metadata: {name: outsider, namespace: default}
spec:
  automountServiceAccountToken: false
  containers: [{name: hello, image: "terrarium.garden/hello:v1"}]
`

// bastion is a way to the machines of a shoot, as a user sees it.
type bastion struct {
	address string
	key     ssh.Signer
	host    ssh.PublicKey
}

// dial connects from an address of this machine, or from any.
func (b bastion) dial(t *testing.T, from netip.Addr) net.Conn {
	t.Helper()
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if from.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	conn, err := dialer.DialContext(t.Context(), "tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// login logs in to a host over a connection, as the user of all machines and bastions.
func login(t *testing.T, conn net.Conn, key ssh.Signer, host ssh.HostKeyCallback) *ssh.Client {
	t.Helper()
	c, channels, requests, err := ssh.NewClientConn(conn, "host", &ssh.ClientConfig{
		User: "gardener", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: host, Timeout: 30 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return ssh.NewClient(c, channels, requests)
}

// sshThroughBastion runs a command on a node through a bastion, from the address that the bastion accepts and from others (GLET-BASTION-1
// to 4, EXT-BUCKET-5).
func sshThroughBastion(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	node := strings.TrimSpace(w.must(t, w.shoot("get", "nodes", "-o", `jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`)...))
	way, err := (&net.Dialer{}).DialContext(t.Context(), "udp", net.JoinHostPort(node, "22")) // sends nothing; says which address is used
	if err != nil {
		t.Fatal(err)
	}
	own := netip.MustParseAddrPort(way.LocalAddr().String()).Addr()
	_ = way.Close()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := bastion{}
	if b.key, err = ssh.NewSignerFromKey(private); err != nil {
		t.Fatal(err)
	}
	w.mustWith(t, fmt.Sprintf(door, namespace, shootName, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(b.key.PublicKey()))), own), w.garden("apply", "-f", "-")...)
	w.mustWith(t, outsider, w.seed("apply", "-f", "-")...)
	w.says(t, time.Minute, "True", w.garden("-n", namespace, "get", "bastion", "door", "-o", `jsonpath={.status.conditions[?(@.type=="BastionReady")].status}`)...)
	said := w.must(t, w.garden("-n", namespace, "get", "bastion", "door", "-o", `jsonpath={.status.ingress.ip} {.status.conditions[0].message}`)...)
	address, message, _ := strings.Cut(said, " ")
	b.address = net.JoinHostPort(address, "22")
	if b.host, _, _, _, err = ssh.ParseAuthorizedKey([]byte(message[strings.LastIndex(message, "ssh-ed25519"):])); err != nil {
		t.Fatalf("the bastion does not say by which key it is known: %s", said)
	}

	client := login(t, b.dial(t, netip.Addr{}), b.key, ssh.FixedHostKey(b.host))
	inner, err := client.DialContext(t.Context(), "tcp", net.JoinHostPort(node, "22"))
	if err != nil {
		t.Fatal(err)
	}
	onNode := login(t, inner, w.shootKey(t), ssh.InsecureIgnoreHostKey())
	session, err := onNode.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.Output("sudo -n id -u && hostname && echo $SSH_CONNECTION")
	name := strings.TrimSpace(w.must(t, w.shoot("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")...))
	lines := strings.Fields(string(out))
	if diff := cmp.Diff([]string{"0", name, address}, lines[:min(3, len(lines))]); diff != "" || err != nil {
		t.Errorf("the user becomes root on the node, from the bastion: %v: user, node and address (-want +got):\n%s", err, diff)
	}
	if _, err := client.DialContext(t.Context(), "tcp", net.JoinHostPort(node, "10250")); err == nil {
		t.Error("the bastion leads to the kubelet of a node")
	}

	// Another address of this machine gets not a byte, and a pod of the seed not even a connection.
	silent := b.dial(t, netip.MustParseAddr("10.99.0.1"))
	if err := silent.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(silent); len(got) > 0 || err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("to an address that is not let in the bastion says %q: %v", got, err)
	}
	w.must(t, w.seed("-n", "default", "wait", "--for=condition=Ready", "--timeout=60s", "pod/outsider")...)
	if r := w.try(t, "", w.seed("-n", "default", "exec", "outsider", "--", "/usr/local/bin/hello", "http://"+b.address)...); !strings.Contains(r.all(), "no route to host") {
		t.Errorf("a pod of the seed reaches the bastion: %s", r.all())
	}

	w.sshCommand(t, name)

	w.must(t, w.garden("-n", namespace, "delete", "bastion", "door", "--timeout=60s")...)
	if err := client.Wait(); err == nil {
		t.Error("a connection has outlived its bastion")
	}
	w.gone(t, 10*time.Second, w.seed("-n", plane, "get", "pod", "bastion-door")...)
	w.gone(t, 10*time.Second, w.seed("-n", plane, "get", "networkpolicy", "bastion-door")...)
	w.gone(t, 10*time.Second, w.seed("-n", plane, "get", "secret", "bastion-door")...)
	w.must(t, w.seed("-n", "default", "delete", "pod", "outsider", "--now")...)
}

// sshCommand logs in with one command, which ends as the command on the node does, and leaves no bastion.
func (w *world) sshCommand(t *testing.T, node string) {
	t.Helper()
	command := w.terrarium("ssh", shootName, "-n", namespace, "--kubeconfig", filepath.Join(w.state, "garden.kubeconfig"), "--", "sudo -n id -u; hostname; exit 7")
	r := w.try(t, "", command...)
	if diff := cmp.Diff("0\n"+node+"\n", r.stdout); diff != "" || r.code != 7 {
		t.Errorf("terrarium ssh ended with %d, want 7\n%s\noutput (-want +got):\n%s", r.code, r.all(), diff)
	}
	w.eventually(t, time.Minute, "the bastion of the command is gone", func() (bool, string) {
		left := w.must(t, w.garden("-n", namespace, "get", "bastions", "-o", "name")...)
		return !strings.Contains(left, "/ssh-"), left
	})
}

// shootKey is the key of the machines, from the project.
func (w *world) shootKey(t *testing.T) ssh.Signer {
	t.Helper()
	encoded := w.must(t, w.garden("-n", namespace, "get", "secret", shootName+".ssh-keypair", "-o", `jsonpath={.data.id_rsa}`)...)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParsePrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
