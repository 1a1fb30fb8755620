// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/netip"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
	"github.com/terrarium-garden/terrarium/appliance/seedling/pki"
)

// The authorities: one for the cluster, one for requests that the API server forwards.
const (
	clusterAuthority    = "ca"
	frontProxyAuthority = "front-proxy-ca"
)

// The users of the parts of the cluster.
const (
	adminUser             = "admin"
	kubeletUser           = "kubelet"
	controllerManagerUser = "kube-controller-manager"
	schedulerUser         = "kube-scheduler"
	proxyUser             = "kube-proxy"
	addonsUser            = "addons"
	dnsUser               = "coredns"
)

// etcdPeerName is the name in the certificate with which etcd would connect to itself.
const etcdPeerName = "seedling:etcd-peer"

// serviceAccountKey signs the tokens of service accounts.
const serviceAccountKey = "service-account"

// establish creates the certificates of the cluster, the key of service accounts, and a kubeconfig for each part that is a
// client.
func (c *Cluster) establish() error {
	folder := pki.Folder{Dir: c.config.state("pki"), Now: c.Clock.Now()}
	for _, dir := range []string{folder.Dir, c.config.state("kubeconfigs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	ca, err := folder.EnsureAuthority(clusterAuthority, "seedling:ca")
	if err != nil {
		return err
	}
	frontProxy, err := folder.EnsureAuthority(frontProxyAuthority, "seedling:front-proxy-ca")
	if err != nil {
		return err
	}
	if _, err := folder.Ensure(frontProxyClient(), frontProxy); err != nil {
		return err
	}
	for _, wanted := range c.clusterCertificates() {
		if _, err := folder.Ensure(wanted, ca); err != nil {
			return err
		}
	}
	if err := folder.EnsureKey(serviceAccountKey); err != nil {
		return err
	}
	for user, subject := range c.users() {
		client, err := folder.Ensure(pki.Certificate{
			Name: "client-" + user, Subject: subject, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}, ca)
		if err != nil {
			return err
		}
		if err := c.writeKubeconfig(user, ca, client); err != nil {
			return err
		}
	}
	return nil
}

func frontProxyClient() pki.Certificate {
	return pki.Certificate{
		Name: "front-proxy-client", Subject: pkix.Name{CommonName: "front-proxy-client"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func (c *Cluster) clusterCertificates() []pki.Certificate {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	server, client := x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	return []pki.Certificate{
		{
			Name:      "apiserver",
			Subject:   pkix.Name{CommonName: "kube-apiserver"},
			Hosts:     []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
			Addresses: []netip.Addr{c.config.NodeIP, c.config.serviceIP(), loopback},
			Usages:    []x509.ExtKeyUsage{server},
		},
		{
			Name:      "kubelet",
			Subject:   pkix.Name{CommonName: "system:node:" + c.config.NodeName, Organization: []string{"system:nodes"}},
			Hosts:     []string{c.config.NodeName},
			Addresses: []netip.Addr{c.config.NodeIP, loopback},
			Usages:    []x509.ExtKeyUsage{server},
		},
		{
			Name:      "local", // the parts that listen only for health checks
			Subject:   pkix.Name{CommonName: "seedling:local"},
			Hosts:     []string{"localhost"},
			Addresses: []netip.Addr{loopback},
			Usages:    []x509.ExtKeyUsage{server},
		},
		{
			Name:      "etcd-peer",
			Subject:   pkix.Name{CommonName: etcdPeerName},
			Hosts:     []string{"localhost"},
			Addresses: []netip.Addr{loopback},
			Usages:    []x509.ExtKeyUsage{server, client},
		},
		{
			Name:    "apiserver-kubelet-client",
			Subject: pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}},
			Usages:  []x509.ExtKeyUsage{client},
		},
	}
}

// users are the subjects of the clients of the API server. Their permissions are the defaults of Kubernetes.
func (c *Cluster) users() map[string]pkix.Name {
	return map[string]pkix.Name{
		adminUser:             {CommonName: "seedling:admin", Organization: []string{"system:masters"}},
		kubeletUser:           {CommonName: "system:node:" + c.config.NodeName, Organization: []string{"system:nodes"}},
		controllerManagerUser: {CommonName: "system:kube-controller-manager"},
		schedulerUser:         {CommonName: "system:kube-scheduler"},
		proxyUser:             {CommonName: "system:kube-proxy"},
		addonsUser:            {CommonName: "seedling:addons", Organization: []string{"system:masters"}},
		dnsUser:               {CommonName: dnsRole}, // publishDNS grants its permissions
	}
}

func (c *Cluster) writeKubeconfig(user string, ca, client pki.Pair) error {
	key, err := client.KeyPEM()
	if err != nil {
		return err
	}
	const name = "seedling"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.config.Server(), CertificateAuthorityData: ca.CertificatePEM()}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {ClientCertificateData: client.CertificatePEM(), ClientKeyData: key}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: user}},
		CurrentContext: name,
	})
	if err != nil {
		return fmt.Errorf("encode kubeconfig %q: %w", user, err)
	}
	if user == adminUser {
		return durable.Replace(c.config.AdminKubeconfig(), content, 0o600)
	}
	return durable.Replace(c.config.kubeconfig(user), content, 0o600)
}
