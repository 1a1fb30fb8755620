// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/bounds"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedauthorizer"
)

// handlerChain is the chain of the outermost server. What is public is served before anything else is asked: a client
// that holds a hash of the CA needs the CA before it can trust this server at all.
func (c *completed) handlerChain(public map[string]document) func(http.Handler, *genericapiserver.Config) http.Handler {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		// Bodies are judged last: only of those who may send them, and before anything decodes them.
		judged := bounds.With(api, config.MaxRequestBodyBytes, config.Serializer)
		chain := seedauthorizer.WithPlace(
			genericapiserver.DefaultBuildHandlerChain(seedauthorizer.WithAbsent(judged, config.Serializer), config))

		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if found, ok := public[r.URL.Path]; ok && r.Method == http.MethodGet {
				found.ServeHTTP(w, r)

				return
			}
			chain.ServeHTTP(w, r)
		})
	}
}
