// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"
	"strings"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
)

// configurationPath is the path at which the server shows its configuration.
const configurationPath = "/appliance/configuration"

// configurationPage is the mount of the configuration with its defaults, for those whom RBAC permits.
func (s *server) configurationPage() gateway.Mount {
	return gateway.Mount{Path: configurationPath, Who: gateway.Authorized, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(w).Encode(withoutSecrets(s.Config)) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.
	})}
}

// withoutSecrets returns a copy that may be shown. The URL of a datastore can have a password in several places, so only its kind is
// left.
func withoutSecrets(c *gardenconfigv1alpha1.ServerConfiguration) *gardenconfigv1alpha1.ServerConfiguration {
	shown := c.DeepCopy()
	shown.APIVersion, shown.Kind = gardenconfigv1alpha1.ServerGroupVersion.String(), "ServerConfiguration"
	if shown.Datastore.Endpoint != "" {
		kind, _, _ := strings.Cut(shown.Datastore.Endpoint, ":")
		shown.Datastore.Endpoint = kind + "://[redacted]"
	}

	return shown
}
