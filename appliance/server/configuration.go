// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// configurationPath is the path at which the server shows its configuration.
const configurationPath = "/appliance/configuration"

// configurationPage is the mount of the configuration with its defaults, for those whom RBAC permits.
func configurationPage(c *gardenconfigv1alpha1.ServerConfiguration) gateway.Mount {
	return gateway.Mount{Path: configurationPath, Who: gateway.Authorized, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(w).Encode(options.WithoutSecrets(c)) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.
	})}
}
