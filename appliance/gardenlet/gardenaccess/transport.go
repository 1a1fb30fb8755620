// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// idleTimeout closes the connections of a replaced transport after their last watch has ended.
const idleTimeout = 90 * time.Second

// transport sends requests over the current connection. Replacing the connection does not interrupt requests in flight: they
// end on the old connection, new ones use the new one.
type transport struct {
	current atomic.Pointer[http.Transport]
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.current.Load().RoundTrip(request)
}

// CloseIdleConnections is called by http.Client.
func (t *transport) CloseIdleConnections() {
	t.current.Load().CloseIdleConnections()
}

// use sets the material for all further requests.
func (t *transport) use(m Material) error {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(m.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(m.CA) {
			return errors.New("the garden's CA bundle has no certificate in PEM")
		}
	}
	certificate, err := tls.X509KeyPair(m.Certificate, m.Key)
	if err != nil {
		return fmt.Errorf("load client certificate: %w", err)
	}
	config.Certificates = []tls.Certificate{certificate}

	fresh := utilnet.SetTransportDefaults(&http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     idleTimeout,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
	})
	if old := t.current.Swap(fresh); old != nil {
		old.CloseIdleConnections()
	}
	return nil
}

// config returns a client configuration with this transport.
func (t *transport) config(settings Settings, server string) *rest.Config {
	return tuned(settings, &rest.Config{Host: server, Transport: t})
}

// plainConfig returns a client configuration for one certificate or token, which is never replaced.
func plainConfig(settings Settings, m Material) *rest.Config {
	return tuned(settings, &rest.Config{
		Host:        m.Server,
		BearerToken: m.Token,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: m.CA, CertData: m.Certificate, KeyData: m.Key, Insecure: m.Insecure,
		},
	})
}

// tuned sets what the settings say about requests, and returns the configuration.
func tuned(settings Settings, config *rest.Config) *rest.Config {
	kit.Tune(config, settings.Connection)
	config.UserAgent = settings.UserAgent
	return config
}
