// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

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

// now returns the time of the server, to the second and never ahead of it, or that of this machine if the server does not tell. The clock
// of a client may be wrong by more than what it asks for.
func (g *garden) now(ctx context.Context, clk clock.PassiveClock) time.Time {
	at, err := g.date(ctx)
	if err != nil {
		return clk.Now()
	}
	return at
}

// date reads the header Date, which every answer has, also one that says that the path is not permitted.
func (g *garden) date(ctx context.Context) (time.Time, error) {
	client, err := rest.HTTPClientFor(g.config)
	if err != nil {
		return time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.client.Discovery().RESTClient().Get().AbsPath("/version").URL().String(), nil)
	if err != nil {
		return time.Time{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer response.Body.Close() //nolint:errcheck // Only the header is of interest.
	return http.ParseTime(response.Header.Get("Date"))
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
