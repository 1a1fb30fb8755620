// SPDX-License-Identifier: Apache-2.0

package shootauthorizer

import (
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

// WithIssued adds to gardenlets of shoots when their certificates were issued.
func WithIssued(next authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		found, ok, err := next.AuthenticateRequest(r)
		if err != nil || !ok || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return found, ok, err
		}
		if _, is := shootclient.Of(found.User); !is {
			return found, ok, nil
		}
		at := r.TLS.PeerCertificates[0].NotBefore.Add(revoked.Backdate)

		return &authenticator.Response{Audiences: found.Audiences, User: shootclient.Issued(found.User, at)}, true, nil
	})
}
