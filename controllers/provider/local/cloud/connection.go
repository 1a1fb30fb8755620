// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/guard"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
)

const (
	userAgent = "provider-local"

	qps, burst = 20, 40
)

// Config reads a kubeconfig that a user has handed in. It refuses what does more than connect (GAC-KCFG-3), and connections to addresses
// in the refused networks. The errors quote nothing but names of fields: the rest may be secret.
func Config(data []byte, refused []netip.Prefix) (*rest.Config, error) {
	given, err := clientcmd.Load(data)
	if err != nil {
		return nil, errors.New("it is not a kubeconfig; correct it")
	}
	current := given.Contexts[given.CurrentContext]
	if current == nil || given.Clusters[current.Cluster] == nil || given.AuthInfos[current.AuthInfo] == nil {
		return nil, errors.New("current-context does not lead to a cluster and a user; correct it")
	}
	cluster, user := given.Clusters[current.Cluster], given.AuthInfos[current.AuthInfo]
	if unsafe := unsafeFields(given); len(unsafe) > 0 {
		return nil, fmt.Errorf("it must not have %s; put certificates and credentials into it", strings.Join(unsafe, ", "))
	}
	if kubeconfig.Outsized(cluster, user) {
		return nil, errors.New("its certificates or keys are too large; use smaller ones")
	}
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Scheme != "https" || server.Hostname() == "" || server.User != nil || server.RawQuery != "" || server.Fragment != "" {
		return nil, errors.New("the server must be a URL such as https://cloud.example.com:6443; correct it")
	}
	if address, err := netip.ParseAddr(server.Hostname()); err == nil {
		if err := (guard.Guard{Networks: refused}).Check(netip.AddrPortFrom(address, 0)); err != nil {
			return nil, fmt.Errorf("the server cannot be reached from here: %w; name one that others reach", err)
		}
	}
	return &rest.Config{
		Host: cluster.Server, UserAgent: userAgent,
		BearerToken: user.Token, Username: user.Username, Password: user.Password,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: cluster.TLSServerName, CAData: cluster.CertificateAuthorityData,
			CertData: user.ClientCertificateData, KeyData: user.ClientKeyData,
		},
		// Without a shared limiter each kind would have a limit of its own.
		RateLimiter:   flowcontrol.NewTokenBucketRateLimiter(qps, burst),
		Proxy:         func(*http.Request) (*url.URL, error) { return nil, nil },
		Dial:          dialer(refused),
		WrapTransport: func(next http.RoundTripper) http.RoundTripper { return newLimiter(next) },
	}, nil
}

// unsafeFields judges all clusters and users, not only those that are used now, as it is done for the Secrets of projects.
func unsafeFields(given *clientcmdapi.Config) []string {
	var unsafe []string
	for _, user := range given.AuthInfos {
		unsafe = append(unsafe, kubeconfig.UnsafeUser(user)...)
	}
	for _, cluster := range given.Clusters {
		unsafe = append(unsafe, kubeconfig.UnsafeCluster(cluster)...)
		if cluster.InsecureSkipTLSVerify {
			unsafe = append(unsafe, "insecure-skip-tls-verify")
		}
	}
	slices.Sort(unsafe)
	return slices.Compact(unsafe)
}

// connect makes a client for a configuration, without a request.
func connect(config *rest.Config, types *runtime.Scheme) (client.Client, error) {
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, errors.New("its certificates or keys cannot be used; correct them")
	}
	// A redirection would take the credentials elsewhere.
	transport.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c, err := client.New(config, client.Options{Scheme: types, Mapper: kinds(), HTTPClient: transport})
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return c, nil
}

// kinds are those that machines are made of. They are not discovered: a hostile server could name any number of them.
func kinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Namespace", "Node"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeRoot)
	}
	for _, kind := range []string{"Pod", "Secret", "ConfigMap", "Service", "Event", "PersistentVolumeClaim"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	mapper.Add(networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"), meta.RESTScopeNamespace)
	mapper.Add(discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"), meta.RESTScopeNamespace)
	mapper.Add(storagev1.SchemeGroupVersion.WithKind("StorageClass"), meta.RESTScopeRoot)
	return mapper
}
