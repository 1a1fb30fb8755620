// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
)

// access is how a kubeconfig says that a cluster is reached. Its errors are for users and hold nothing of the kubeconfig but the
// names of fields.
type access struct {
	server *url.URL
	tls    *tls.Config
	user   *clientcmdapi.AuthInfo
}

var (
	errNoKubeconfig   = errors.New("the Secret has no kubeconfig under the key " + kubeconfig.Key)
	errUnreadable     = errors.New("the kubeconfig cannot be read")
	errNoContext      = errors.New("the current context of the kubeconfig does not name a cluster and a user that it has")
	errServer         = errors.New("the server in the kubeconfig is not a URL such as https://api.example.com:6443")
	errAuthority      = errors.New("certificate-authority-data in the kubeconfig holds no certificate")
	errLargeKey       = errors.New("certificate-authority-data, client-certificate-data or client-key-data in the kubeconfig has a key of more than 8192 bits, or is too large")
	errKeyPair        = errors.New("client-certificate-data and client-key-data in the kubeconfig do not fit")
	errInvalidContent = errors.New("the token, username or password in the kubeconfig has characters that no header can have")
)

// readAccess reads a kubeconfig and refuses one that would have an effect other than a connection (GCM-PLANT-2).
func readAccess(raw []byte) (*access, error) {
	if len(raw) == 0 {
		return nil, errNoKubeconfig
	}
	config, err := clientcmd.Load(raw)
	if err != nil {
		return nil, errUnreadable // The error of the parser may repeat what it read.
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil {
		return nil, errNoContext
	}
	cluster, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	if cluster == nil || user == nil {
		return nil, errNoContext
	}
	if wrong := append(kubeconfig.UnsafeCluster(cluster), kubeconfig.UnsafeUser(user)...); len(wrong) > 0 {
		return nil, fmt.Errorf("the kubeconfig has fields that are not allowed: %s", strings.Join(wrong, ", "))
	}
	server, err := serverOf(cluster)
	if err != nil {
		return nil, err
	}
	config509, err := tlsOf(cluster, user)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(user.Token+user.Username+user.Password, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errInvalidContent
	}
	return &access{server: server, tls: config509, user: user}, nil
}

// serverOf accepts nothing but HTTPS, so that no credentials are sent in plain text and few services that are no API server
// understand what they get.
func serverOf(cluster *clientcmdapi.Cluster) (*url.URL, error) {
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Scheme != "https" || server.Hostname() == "" || server.User != nil || server.RawQuery != "" || server.Fragment != "" {
		return nil, errServer
	}
	return server, nil
}

func tlsOf(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: cluster.TLSServerName,
		InsecureSkipVerify: cluster.InsecureSkipTLSVerify, //nolint:gosec // the owner of the credentials decides who gets them
	}
	if kubeconfig.Outsized(cluster, user) {
		return nil, errLargeKey
	}
	if authority := cluster.CertificateAuthorityData; len(authority) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errAuthority
		}
	}
	if len(user.ClientCertificateData) == 0 && len(user.ClientKeyData) == 0 {
		return config, nil
	}
	pair, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData)
	if err != nil {
		return nil, errKeyPair
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// authenticate adds the credentials to a request.
func (a *access) authenticate(request *http.Request) {
	switch {
	case a.user.Token != "":
		request.Header.Set("Authorization", "Bearer "+a.user.Token)
	case a.user.Username != "":
		request.SetBasicAuth(a.user.Username, a.user.Password)
	}
}
