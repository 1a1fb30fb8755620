// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kubernetes/pkg/controlplane/apiserver/options"
	"k8s.io/kubernetes/pkg/kubeapiserver/authorizer/modes"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// shutdownGrace is how long watches and HTTP connections may take to end when the server stops.
const shutdownGrace = 2 * time.Second

// libraryOptions converts the Config to the options of the generic control plane.
func (c Config) libraryOptions() *options.Options {
	o := options.NewOptions()

	o.GenericServerRunOptions.ExternalHost = c.ExternalHost
	o.GenericServerRunOptions.AdvertiseAddress = c.advertiseAddress()
	o.GenericServerRunOptions.ShutdownSendRetryAfter = true
	o.GenericServerRunOptions.ShutdownWatchTerminationGracePeriod = shutdownGrace
	o.SecureServing.Listener = c.Listener
	o.SecureServing.BindPort = 0
	o.SecureServing.ServerCert = serveroptions.GeneratableKeyCert{
		CertKey: serveroptions.CertKey{CertFile: c.Identity.Certificates.Serving.File, KeyFile: c.Identity.Certificates.Serving.File},
	}
	o.SecureServing.MinTLSVersion = "VersionTLS12"
	o.SecureServing.CipherSuites = cipherSuites()
	o.Features.EnableProfiling = false
	o.EventTTL = c.EventTTL
	// Applying these options would log that there is no manifest of metric labels.
	o.Metrics = nil

	c.applyStorage(o.Etcd)
	c.applyAuthentication(o)
	o.Authorization.Modes = []string{modes.ModeRBAC}

	return o
}

// cipherSuites returns the cipher suites of TLS 1.2 with authenticated encryption. TLS 1.3 has no others.
func cipherSuites() []string {
	suites := []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
	names := make([]string, 0, len(suites))
	for _, suite := range suites {
		names = append(names, tls.CipherSuiteName(suite))
	}

	return names
}

// advertiseAddress is never looked up, so that a garden can run on a machine without a network.
func (c Config) advertiseAddress() net.IP {
	if host, _, err := net.SplitHostPort(c.ExternalHost); err == nil {
		if ip := net.ParseIP(host); ip != nil {
			return ip
		}
	}
	if ip := net.ParseIP(c.ExternalHost); ip != nil {
		return ip
	}
	if tcp, ok := c.Listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsUnspecified() {
		return tcp.IP
	}

	return net.IPv4(127, 0, 0, 1)
}

func (c Config) applyStorage(o *serveroptions.EtcdOptions) {
	o.StorageConfig.Transport = storagebackend.TransportConfig{
		ServerList:    c.Objects.Servers,
		TrustedCAFile: c.Objects.TLS.CAFile,
		CertFile:      c.Objects.TLS.CertFile,
		KeyFile:       c.Objects.TLS.KeyFile,
		EgressLookup:  c.stores(),
	}
	if !c.Compact {
		o.StorageConfig.CompactionInterval = 0
	}
	if !slices.Equal(c.Objects.Servers, c.Events.Servers) {
		o.EtcdServersOverrides = []string{"/events#" + strings.Join(c.Events.Servers, ";")}
	}
	o.EncryptionProviderConfigFilepath = c.Identity.Encryption.File
	o.WatchCacheSizes = []string{"events#0", "events.events.k8s.io#0"}
}

func (c Config) applyAuthentication(o *options.Options) {
	a := o.Authentication
	// Anonymous requests are accepted for a few paths only, see openPaths.
	a.Anonymous = &kubeoptions.AnonymousAuthenticationOptions{Allow: false, FlagsSet: true}
	a.BootstrapToken.Enable = true
	a.ClientCert.ClientCA = c.Identity.Authorities.Client.CertFile
	a.RequestHeader = &serveroptions.RequestHeaderAuthenticationOptions{
		ClientCAFile:        c.Identity.Authorities.FrontProxy.CertFile,
		AllowedNames:        []string{identity.FrontProxyName},
		UsernameHeaders:     []string{"X-Remote-User"},
		UIDHeaders:          []string{"X-Remote-Uid"},
		GroupHeaders:        []string{"X-Remote-Group"},
		ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
	}
	if c.OIDC != nil {
		a.OIDC = &kubeoptions.OIDCAuthenticationOptions{
			IssuerURL: c.OIDC.IssuerURL, ClientID: c.OIDC.ClientID, CAFile: c.OIDC.CAFile,
			UsernameClaim: c.OIDC.UsernameClaim, UsernamePrefix: c.OIDC.UsernamePrefix,
			GroupsClaim: c.OIDC.GroupsClaim, GroupsPrefix: c.OIDC.GroupsPrefix,
			SigningAlgs: signingAlgorithms(), FlagsSet: true,
		}
	}
	a.ServiceAccounts.Issuers = []string{c.ServiceAccountIssuer}
	// KeyFiles would be read once; see Complete.
	a.ServiceAccounts.MaxExpiration = c.MaxServiceAccountTokenLifetime
	// There are no pods with clients that do not reload their tokens.
	a.ServiceAccounts.ExtendExpiration = false

	o.ServiceAccountSigningKeyFile = c.Identity.ServiceAccount.File
	o.ProxyClientCertFile = c.Identity.Certificates.FrontProxy.File
	o.ProxyClientKeyFile = c.Identity.Certificates.FrontProxy.File
}

// signingAlgorithms returns the signatures of identity tokens that are accepted: the default of issuers, and its successors.
func signingAlgorithms() []string {
	return []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"}
}

// servedVersions returns the versions of Kubernetes' own groups that a garden serves: the stable ones.
func servedVersions() *serverstorage.ResourceConfig {
	c := serverstorage.NewResourceConfig()
	c.EnableVersions(
		admissionregistrationv1.SchemeGroupVersion,
		authenticationv1.SchemeGroupVersion,
		authorizationv1.SchemeGroupVersion,
		certificatesv1.SchemeGroupVersion,
		coordinationv1.SchemeGroupVersion,
		corev1.SchemeGroupVersion,
		eventsv1.SchemeGroupVersion,
		flowcontrolv1.SchemeGroupVersion,
		rbacv1.SchemeGroupVersion,
	)

	return c
}
