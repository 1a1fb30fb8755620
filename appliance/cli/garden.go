// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// garden is a client of a running garden with the permissions of an administrator.
type garden struct {
	config *rest.Config
	client kubernetes.Interface
}

func connect(c options.Connection, getenv func(string) string) (*garden, error) {
	config, err := c.RESTConfig(getenv)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "terrarium/" + build.Version
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to garden: %w", err)
	}
	return &garden{config: config, client: client}, nil
}

// get reads a path that is not a resource.
func (g *garden) get(ctx context.Context, path string) ([]byte, error) {
	data, err := raw(ctx, g.client.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json, */*"))
	if err != nil {
		return nil, fmt.Errorf("get %q from the garden: %w", path, err)
	}
	return data, nil
}

// caHash returns the hash of the CA that the garden publishes. The connection has verified the server, so the hash can be
// pinned in a token.
func (g *garden) caHash(ctx context.Context) (string, error) {
	if g.config.Insecure {
		return "", errors.New("the kubeconfig does not verify the server, so the CA for the token cannot be trusted")
	}
	bundle, err := g.get(ctx, identity.CAPath)
	if err != nil {
		return "", err
	}
	return identity.HashCA(bundle), nil
}

// address returns the URL by which other machines reach the garden. It is the URL in the kubeconfig, unless that is a loopback
// address; then the server publishes the address.
func (g *garden) address(ctx context.Context) (string, error) {
	u, err := url.Parse(g.config.Host)
	if err != nil {
		return "", fmt.Errorf("read address of the garden: %w", err)
	}
	if u.Scheme == "https" && !isLoopback(u.Hostname()) {
		return "https://" + u.Host, nil
	}
	data, err := g.get(ctx, "/api")
	if err != nil {
		return "", err
	}
	var versions metav1.APIVersions
	if err := json.Unmarshal(data, &versions); err != nil {
		return "", fmt.Errorf("read address of the garden: %w", err)
	}
	for _, a := range versions.ServerAddressByClientCIDRs {
		if a.ServerAddress != "" {
			return "https://" + withPort(a.ServerAddress, u.Port()), nil
		}
	}
	return "https://" + u.Host, nil
}

// withPort adds a port to an address without one.
func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil || port == "" {
		return address
	}
	return net.JoinHostPort(address, port)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
