// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/http"
	"slices"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/bounds"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graphpage"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedauthorizer"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
)

// handlerChain is the chain of the outermost server. What is for everybody is served before anything else is asked: a client
// that holds a hash of the CA needs the CA before it can trust this server at all.
func (c *completed) handlerChain(mounts gateway.Mounts) func(http.Handler, *genericapiserver.Config) http.Handler {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		// Bodies are checked last: only for authorized requests, and before anything decodes them.
		judged := mounts.Before(gateway.Authorized, withShortWatches(bounds.With(outcome.With(api), config.MaxRequestBodyBytes, config.Serializer)))
		chain := seedauthorizer.WithPlace(
			genericapiserver.DefaultBuildHandlerChain(c.revoked.WithOpen(seedauthorizer.WithAbsent(judged, config.Serializer), config.Serializer), config))

		return mounts.Before(gateway.Everybody, withOwnIDs(chain))
	}
}

// withOwnIDs has the server choose the IDs of events in the audit log, not the clients: what somebody did could not be told apart from another
// request that has its ID, and an ID may have any length.
func withOwnIDs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(auditinternal.HeaderAuditID)
		next.ServeHTTP(w, r)
	})
}

// mounts are those that were given, and the page that shows the graph, where the configuration asks for it (GAC-GR-13).
func (c *completed) mounts() (gateway.Mounts, error) {
	all := append(slices.Clone(c.Mounts), c.office.Mounts()...)
	if c.DebugHandlers {
		all = append(all, gateway.Mount{Path: graphpage.Path, Who: gateway.Authorized, Handler: c.seeds.page()})
	}
	if err := all.Check(); err != nil {
		return nil, fmt.Errorf("share the port: %w", err)
	}

	return all, nil
}
