// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	lifetime   = 365 * 24 * time.Hour
	renewAhead = 30 * 24 * time.Hour
	// clockSkew is how far apart the clocks of two machines may be.
	clockSkew = 5 * time.Minute
)

// pair is a certificate with its key.
type pair struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func (p pair) certificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})
}

func (p pair) keyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// authority makes the certificates of a cluster in one folder. What is there and good for another while stays.
type authority struct {
	config Config
	now    time.Time
}

// certificate is one entry of the list of certificates.
type certificate struct {
	name      string
	signer    string
	subject   pkix.Name
	names     []string
	addresses []netip.Addr
	usages    []x509.ExtKeyUsage
}

// establish makes everything that identifies a part of the cluster to another: two authorities (one for the
// cluster, one for requests that the API server passes on), certificates, the key of service accounts, and
// a kubeconfig for each part that is a client.
func (a authority) establish() error {
	for _, dir := range []string{a.config.state("pki"), a.config.state("kubeconfigs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	signers := map[string]pair{}
	for _, name := range []string{"ca", "front-proxy-ca"} {
		signer, err := a.ensure(certificate{name: name, subject: pkix.Name{CommonName: "seedling:" + name}}, nil)
		if err != nil {
			return err
		}
		signers[name] = signer
	}
	for _, wanted := range a.certificates() {
		signer := signers[wanted.signer]
		if _, err := a.ensure(wanted, &signer); err != nil {
			return err
		}
	}
	if err := a.serviceAccountKey(); err != nil {
		return err
	}
	for user, subject := range a.clients() {
		client, err := a.ensure(certificate{
			name: "client-" + user, subject: subject, usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}, new(signers["ca"]))
		if err != nil {
			return err
		}
		if err := a.writeKubeconfig(user, signers["ca"], client); err != nil {
			return err
		}
	}
	return nil
}

func (a authority) certificates() []certificate {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	server, client := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return []certificate{
		{
			name: "apiserver", signer: "ca", subject: pkix.Name{CommonName: "kube-apiserver"}, usages: server,
			names:     []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
			addresses: []netip.Addr{a.config.NodeIP, a.config.serviceIP(), loopback},
		},
		{
			name: "kubelet", signer: "ca", subject: pkix.Name{CommonName: "system:node:" + a.config.NodeName, Organization: []string{"system:nodes"}},
			usages: server, names: []string{a.config.NodeName}, addresses: []netip.Addr{a.config.NodeIP, loopback},
		},
		{
			name: "local", signer: "ca", subject: pkix.Name{CommonName: "seedling:local"}, usages: server,
			names: []string{"localhost"}, addresses: []netip.Addr{loopback},
		},
		{
			name: "etcd-peer", signer: "ca", subject: pkix.Name{CommonName: "seedling:etcd-peer"}, usages: append(server, client...),
			names: []string{"localhost"}, addresses: []netip.Addr{loopback},
		},
		{
			name: "apiserver-kubelet-client", signer: "ca", usages: client,
			subject: pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}},
		},
		{name: "front-proxy-client", signer: "front-proxy-ca", subject: pkix.Name{CommonName: "front-proxy-client"}, usages: client},
	}
}

// The users of the parts of the cluster.
const (
	adminUser             = "admin"
	kubeletUser           = "kubelet"
	controllerManagerUser = "kube-controller-manager"
	schedulerUser         = "kube-scheduler"
	proxyUser             = "kube-proxy"
	addonsUser            = "addons"
)

// clients are the subjects by which the API server knows its users; what they may do comes with Kubernetes itself.
func (a authority) clients() map[string]pkix.Name {
	return map[string]pkix.Name{
		adminUser:             {CommonName: "seedling:admin", Organization: []string{"system:masters"}},
		kubeletUser:           {CommonName: "system:node:" + a.config.NodeName, Organization: []string{"system:nodes"}},
		controllerManagerUser: {CommonName: "system:kube-controller-manager"},
		schedulerUser:         {CommonName: "system:kube-scheduler"},
		proxyUser:             {CommonName: "system:kube-proxy"},
		addonsUser:            {CommonName: "seedling:addons", Organization: []string{"system:masters"}},
	}
}

// ensure returns the certificate from the folder, or makes it, signed by the signer or, without one, by itself.
func (a authority) ensure(wanted certificate, signer *pair) (pair, error) {
	existing, err := a.load(wanted.name)
	if err == nil && existing.certificate.NotAfter.After(a.now.Add(renewAhead)) {
		return existing, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pair{}, err
	}
	made, err := a.issue(wanted, signer)
	if err != nil {
		return pair{}, fmt.Errorf("make certificate %q: %w", wanted.name, err)
	}
	key, err := made.keyPEM()
	if err != nil {
		return pair{}, err
	}
	if err := replaceFile(a.config.pki(wanted.name+".key"), key, 0o600); err != nil {
		return pair{}, err
	}
	return made, replaceFile(a.config.pki(wanted.name+".crt"), made.certificatePEM(), 0o644)
}

func (a authority) issue(wanted certificate, signer *pair) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("generate key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return pair{}, fmt.Errorf("generate serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               wanted.subject,
		NotBefore:             a.now.Add(-clockSkew),
		NotAfter:              a.now.Add(lifetime),
		BasicConstraintsValid: true,
		DNSNames:              wanted.names,
	}
	for _, address := range wanted.addresses {
		template.IPAddresses = append(template.IPAddresses, net.IP(address.AsSlice()))
	}
	parent, signingKey := template, crypto.Signer(key)
	if signer == nil {
		template.IsCA, template.NotAfter = true, a.now.Add(10*lifetime)
		template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign
	} else {
		template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, wanted.usages
		parent, signingKey = signer.certificate, signer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signingKey)
	if err != nil {
		return pair{}, fmt.Errorf("sign: %w", err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, fmt.Errorf("parse: %w", err)
	}
	return pair{certificate: parsed, key: key}, nil
}

func (a authority) load(name string) (pair, error) {
	certificate, err := readPEM(a.config.pki(name + ".crt"))
	if err != nil {
		return pair{}, err
	}
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		return pair{}, fmt.Errorf("parse certificate %q: %w", name, err)
	}
	der, err := readPEM(a.config.pki(name + ".key"))
	if err != nil {
		return pair{}, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return pair{}, fmt.Errorf("parse key %q: %w", name, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return pair{}, fmt.Errorf("key %q cannot sign", name)
	}
	return pair{certificate: parsed, key: signer}, nil
}

func readPEM(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%q is not in PEM form", path)
	}
	return block.Bytes, nil
}

// serviceAccountKey makes the key that signs the tokens of service accounts; the public half is in a file of its own.
func (a authority) serviceAccountKey() error {
	file := a.config.pki("service-account.key")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key of service accounts: %w", err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key of service accounts: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode key of service accounts: %w", err)
	}
	err = replaceFile(a.config.pki("service-account.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644)
	if err != nil {
		return err
	}
	return replaceFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600)
}

func (a authority) writeKubeconfig(user string, ca, client pair) error {
	key, err := client.keyPEM()
	if err != nil {
		return err
	}
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"seedling": {Server: a.config.Server(), CertificateAuthorityData: ca.certificatePEM()}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {ClientCertificateData: client.certificatePEM(), ClientKeyData: key}},
		Contexts:       map[string]*clientcmdapi.Context{"seedling": {Cluster: "seedling", AuthInfo: user}},
		CurrentContext: "seedling",
	})
	if err != nil {
		return fmt.Errorf("encode kubeconfig %q: %w", user, err)
	}
	path := a.config.kubeconfig(user)
	if user == adminUser {
		path = a.config.AdminKubeconfig()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return replaceFile(path, content, 0o600)
}
