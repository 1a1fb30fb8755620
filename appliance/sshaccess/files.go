// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/sshuser"
)

// key is a key pair of this way only.
type key struct {
	public  string
	private []byte
}

func newKey() (key, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return key{}, fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return key{}, fmt.Errorf("encode the key: %w", err)
	}
	line, err := ssh.NewPublicKey(public)
	if err != nil {
		return key{}, fmt.Errorf("encode the key: %w", err)
	}
	return key{public: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(line))), private: pem.EncodeToMemory(block)}, nil
}

// config is a configuration for SSH clients. The host is known by the keys that the garden reports; a node is reached through it only, and
// nobody publishes its keys.
const config = `Host bastion
  HostName %[1]s
  HostKeyAlias bastion
  User %[2]s
  IdentityFile "%[3]s/bastion.key"
  UserKnownHostsFile "%[3]s/known_hosts"
  StrictHostKeyChecking %[4]s

Host %[5]s
  HostName %[6]s
  User %[2]s
  IdentityFile "%[3]s/node.key"
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  ProxyJump bastion

Host *
  IdentitiesOnly yes
  LogLevel ERROR
  ConnectTimeout 30
  ServerAliveInterval 30
`

// write writes the files that an SSH client needs.
func (w *Way) write(own, node []byte, address string) error {
	host, err := hostOf(w.bastion.Status.Ingress)
	if err != nil {
		return err
	}
	strict := "yes"
	known := knownHosts(w.bastion)
	if len(known) == 0 {
		strict = "accept-new"
	}
	settings, err := render(host, sshuser.Name, w.dir, strict, Target, address)
	if err != nil {
		return err
	}
	w.Config = filepath.Join(w.dir, "config")
	for path, content := range map[string][]byte{
		filepath.Join(w.dir, "bastion.key"): own,
		filepath.Join(w.dir, "node.key"):    node,
		filepath.Join(w.dir, "known_hosts"): known,
		w.Config:                            settings,
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("write files of the SSH client: %w", err)
		}
	}
	return nil
}

// render fills the values into the configuration. A value with a line break would add options of its own, such as a program to run, and one
// with a quote would end before its end. Those who call have checked theirs; this holds for whatever is added.
func render(values ...any) ([]byte, error) {
	for _, value := range values {
		text := fmt.Sprint(value)
		if strings.ContainsFunc(text, func(r rune) bool { return r == '"' || unicode.IsControl(r) }) {
			return nil, fmt.Errorf("%q cannot be written into the configuration of the SSH client", text)
		}
	}
	return fmt.Appendf(nil, config, values...), nil
}

// hostOf is the address of the host, if it is one and nothing else.
func hostOf(ingress *corev1.LoadBalancerIngress) (string, error) {
	if address, ok := plainAddress(ingress.IP); ok {
		return address, nil
	}
	if ingress.IP == "" && len(validation.IsDNS1123Subdomain(ingress.Hostname)) == 0 {
		return ingress.Hostname, nil
	}
	return "", fmt.Errorf("the bastion reports an address that is none: IP %q, host name %q", ingress.IP, ingress.Hostname)
}

// publicKey finds what may be a public key in a message.
var publicKey = regexp.MustCompile(`(?:ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+`)

// knownHosts are the keys of the host that the condition of the Bastion reports, as lines of a known_hosts file.
func knownHosts(b *gardenoperationsv1alpha1.Bastion) []byte {
	var lines bytes.Buffer
	_, message := judge(b)
	for _, found := range publicKey.FindAllString(message, -1) {
		if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(found)); err == nil {
			lines.WriteString("bastion ")
			lines.Write(ssh.MarshalAuthorizedKey(key))
		}
	}
	return lines.Bytes()
}
