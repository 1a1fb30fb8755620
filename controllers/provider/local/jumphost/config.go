// SPDX-License-Identifier: Apache-2.0

package jumphost

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/crypto/ssh"
	networkingv1 "k8s.io/api/networking/v1"
)

// User is the only user that the server knows.
const User = "gardener"

// Port is the port of machines to which connections are forwarded, and on which the server listens.
const Port = 22

// Rules say who may connect, and where to. None of it is secret.
type Rules struct {
	// Keys are those of clients, each as a line of an authorized_keys file.
	Keys []string `json:"keys"`
	// Ingress are the networks of clients.
	Ingress []networkingv1.IPBlock `json:"ingress"`
	// Nodes are the networks of machines.
	Nodes []string `json:"nodes"`
}

// Config is what a server needs to know.
type Config struct {
	// HostKey identifies the server.
	HostKey ssh.Signer
	// Keys are those of clients.
	Keys []ssh.PublicKey

	from  []block
	nodes []netip.Prefix
}

// block is a network without some others.
type block struct {
	network netip.Prefix
	except  []netip.Prefix
}

// NewConfig makes the settings of a server from its private key in PEM and its rules. Without a key or a network nobody could connect,
// which is a mistake.
func NewConfig(hostKey []byte, rules Rules) (Config, error) {
	c := Config{}
	var err error
	if c.HostKey, err = ssh.ParsePrivateKey(hostKey); err != nil {
		return Config{}, fmt.Errorf("read the key of the host: %w", err)
	}
	if len(rules.Keys) == 0 || len(rules.Ingress) == 0 || len(rules.Nodes) == 0 {
		return Config{}, errors.New("the rules need keys of clients (keys), networks of clients (ingress) and of machines (nodes)")
	}
	for i, line := range rules.Keys {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return Config{}, fmt.Errorf("keys[%d]: %w", i, err)
		}
		c.Keys = append(c.Keys, key)
	}
	for _, given := range rules.Ingress {
		network, err := parsePrefixes(append([]string{given.CIDR}, given.Except...))
		if err != nil {
			return Config{}, fmt.Errorf("ingress: %w", err)
		}
		c.from = append(c.from, block{network: network[0], except: network[1:]})
	}
	if c.nodes, err = parsePrefixes(rules.Nodes); err != nil {
		return Config{}, fmt.Errorf("nodes: %w", err)
	}
	return c, nil
}

func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	all := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network such as 10.0.0.0/8", text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// Admits reports whether a client may connect from an address.
func (c Config) Admits(from netip.Addr) bool {
	from = from.Unmap()
	holds := func(p netip.Prefix) bool { return p.Contains(from) }
	return slices.ContainsFunc(c.from, func(b block) bool { return holds(b.network) && !slices.ContainsFunc(b.except, holds) })
}

// Reaches reports whether connections are forwarded to an address.
func (c Config) Reaches(to netip.AddrPort) bool {
	return to.Port() == Port && slices.ContainsFunc(c.nodes, func(p netip.Prefix) bool { return p.Contains(to.Addr().Unmap()) })
}
