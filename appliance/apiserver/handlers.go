// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// handlerChain is the chain of the outermost server. The CA is public, so it is served before anything else is asked:
// a client that holds a hash of it needs it before it can trust this server at all.
func (c *completed) handlerChain(api http.Handler, config *genericapiserver.Config) http.Handler {
	chain := genericapiserver.DefaultBuildHandlerChain(api, config)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == identity.CAPath && r.Method == http.MethodGet {
			c.serveCA(w)

			return
		}
		chain.ServeHTTP(w, r)
	})
}

func (c *completed) serveCA(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Write(c.Identity.CABundle()) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.
}
