// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/terrarium-garden/terrarium/controllers/registry"
)

var errAuthorities = errors.New("the Secret with the certificates of the registry has no certificate in PEM")

// newTransport trusts the given authorities, or those of the system if there are none. A registry for which authorities are given is to be
// reached with TLS, wherever it is.
func newTransport(at name.Registry, authorities []byte) (*registry.Transport, error) {
	config := registry.Config{Registry: at, TLS: authorities != nil, Limit: MaxChart}
	if authorities != nil {
		config.Roots = x509.NewCertPool()
		if !config.Roots.AppendCertsFromPEM(authorities) {
			return nil, errAuthorities
		}
	}
	return registry.NewTransport(config), nil
}

// credentialsFor returns the credentials for a repository from a .dockerconfigjson. If there is one, it must have some.
func credentialsFor(config []byte, repository name.Repository) (authn.Authenticator, error) {
	if config == nil {
		return authn.Anonymous, nil
	}
	credentials, found, err := registry.Credentials(config, repository)
	if err != nil {
		return nil, fmt.Errorf("the pull Secret %w", err)
	}
	if !found {
		return nil, fmt.Errorf("the pull Secret has no credentials for registry %q", repository.RegistryStr())
	}
	return credentials, nil
}

func tooLarge() *registry.PullError {
	return &registry.PullError{Text: fmt.Sprintf("it is larger than %d MiB", MaxChart>>20)}
}

// explain says what is wrong and what to do about it, without what the registry says.
func (p *pull) explain(err error) error {
	hints := registry.Hints{
		GiveCredentials: "name a Secret with credentials in pullSecretRef",
		Trust:           "put the certificate of its authority into a Secret and name it in caBundleSecretRef",
		TooMany:         "give the digest of the chart, with which it is asked only once",
		TooLarge:        tooLarge().Text,
		Timeout:         timeout,
	}
	if p.known {
		hints.Credentials = "the pull Secret"
	}
	return registry.Explain(err, hints)
}
