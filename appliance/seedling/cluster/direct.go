// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/http"
	"net/url"
	"os"
	"strings"
)

// direct are the variables with which the parts of the cluster reach each other without the proxy of the caller. The container
// runtime needs that proxy for images of registries, so the variables that name it are kept.
func (c Config) direct(environment func(string) string) []string {
	names := []string{
		c.NodeIP.String(), c.PodCIDR.String(), c.ServiceCIDR.String(), c.LoadBalancerCIDR.String(), "127.0.0.0/8", "localhost", ".svc", "." + clusterDomain,
	}
	var all []string
	for _, variable := range []string{"NO_PROXY", "no_proxy"} {
		if value := environment(variable); value != "" {
			all = append(all, value)
		}
	}
	value := strings.Join(append(all, names...), ",")
	return []string{"NO_PROXY=" + value, "no_proxy=" + value}
}

// noProxy makes a client connect directly.
func noProxy(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // This is how a transport is told so.

// environment are the variables of a part.
func (c *Cluster) environment() []string {
	return append(c.config.direct(os.Getenv), c.config.mark())
}
