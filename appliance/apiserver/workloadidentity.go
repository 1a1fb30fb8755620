// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const (
	discoveryPath = "/.well-known/openid-configuration"
	keySetPath    = "/jwks"
)

// WorkloadIdentity says what the tokens of workload identities are like.
type WorkloadIdentity struct {
	// Issuer is the issuer of the tokens, the URL under which verifiers find the key; empty means this server. Tokens
	// become invalid when it changes.
	Issuer string
	// MinTokenLifetime and MaxTokenLifetime bound the validity of a token, whatever is asked for.
	MinTokenLifetime, MaxTokenLifetime time.Duration
}

func (c *completed) workloadIdentityIssuer() string {
	if c.WorkloadIdentity.Issuer != "" {
		return c.WorkloadIdentity.Issuer
	}

	return "https://" + c.ExternalHost + identity.WorkloadIdentityPath
}

func (c *completed) tokenSigner() kind.TokenSigner {
	return kind.TokenSigner{
		Issuer:      c.workloadIdentityIssuer(),
		Sign:        c.Identity.WorkloadIdentity.Sign,
		MinLifetime: c.WorkloadIdentity.MinTokenLifetime,
		MaxLifetime: c.WorkloadIdentity.MaxTokenLifetime,
	}
}

// publicDocuments are what this server tells everybody, before it asks who they are: verifiers of tokens are no users.
func (c *completed) publicDocuments() (map[string]document, error) {
	key, issuer := c.Identity.WorkloadIdentity, c.workloadIdentityIssuer()
	discovery, err := key.Discovery(issuer)
	if err != nil {
		return nil, fmt.Errorf("publish workload identity issuer: %w", err)
	}
	set, err := key.KeySet()
	if err != nil {
		return nil, fmt.Errorf("publish workload identity keys: %w", err)
	}

	return map[string]document{
		identity.CAPath: {kind: "application/x-pem-file", content: c.Identity.CABundle},
		identity.WorkloadIdentityPath + discoveryPath: {
			kind: "application/json", content: func() []byte { return discovery },
		},
		identity.WorkloadIdentityPath + keySetPath: {
			kind: "application/jwk-set+json", content: func() []byte { return set },
		},
	}, nil
}

// document is something that everybody may read.
type document struct {
	kind    string
	content func() []byte
}

// ServeHTTP implements http.Handler.
func (d document) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", d.kind)
	w.Write(d.content()) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.
}
