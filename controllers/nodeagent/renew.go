// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-logr/logr"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/certificate"
	"k8s.io/client-go/util/certificate/csr"
	"k8s.io/client-go/util/keyutil"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	// signing is how long the signature of a certificate may take.
	signing = time.Minute

	pkiDir             = "pki"
	kubeletCertificate = "kubelet-client"
	kubeletServing     = "kubelet-server-current.pem"
	nodesGroup         = "system:nodes"

	blockCertificate = "CERTIFICATE"

	serverCAFile = stateDir + "/server-ca.crt"
)

var errOtherAuthority = errors.New("it is not signed by the present certificate authority")

// renewCredentials gives the kubelet the certificates with which it verifies the API server, if it does not have them yet (GLET-CRED-10).
// Machines that are updated in place survive a rotation of authorities, so there it also gives the kubelet and the agent certificates of the
// present authority. Whatever has changed is restarted with the configuration. It compares with what is there, so that it goes on after an
// interruption.
func (a *Agent) renewCredentials(ctx context.Context, c Configuration) error {
	if c.InPlaceUpdates == nil {
		return a.trustServers(c)
	}
	authority, err := parse([]byte(c.InPlaceUpdates.ClientCA))
	if err != nil {
		return fmt.Errorf("read the certificate authority of clients: %w", err)
	}
	if err := a.renewKubelet(ctx, authority); err != nil {
		return fmt.Errorf("renew the certificate of the kubelet: %w", err)
	}
	if err := a.trust([]byte(c.InPlaceUpdates.ServerCA)); err != nil {
		return fmt.Errorf("write the kubeconfig of the kubelet: %w", err)
	}
	if err := a.dropOwn(authority); err != nil {
		return fmt.Errorf("renew the certificate of the agent: %w", err)
	}
	return nil
}

// renewKubelet requests a certificate as the kubelet that has the old one, and has it request one for its own server too.
func (a *Agent) renewKubelet(ctx context.Context, authority *x509.Certificate) error {
	dir := a.beside(pkiDir)
	store, err := certificate.NewFileStoreWithLogger(logr.Discard(), kubeletCertificate, dir, dir, "", "")
	if err != nil {
		return fmt.Errorf("open its certificates: %w", err)
	}
	current, err := store.Current()
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	if current.Leaf.CheckSignatureFrom(authority) == nil {
		return nil
	}
	signed, key, err := a.sign(ctx)
	if err != nil {
		return err
	}
	leaf, err := parse(signed)
	if err != nil {
		return err
	}
	if leaf.CheckSignatureFrom(authority) != nil {
		return errOtherAuthority
	}
	if err := a.Machine.unsettle(kubeletUnit, Unit); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, kubeletServing)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the one for its server: %w", err)
	}
	if _, err := store.Update(signed, key); err != nil {
		return fmt.Errorf("store it: %w", err)
	}
	return nil
}

// sign has a new key of the kubelet signed. The cluster approves what a kubelet asks for its own node.
func (a *Agent) sign(ctx context.Context) (signed, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: nodeUserPrefix + a.Node, Organization: []string{nodesGroup}}}
	request, err := x509.CreateCertificateRequest(rand.Reader, template, private)
	if err != nil {
		return nil, nil, fmt.Errorf("make a request: %w", err)
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(private); err != nil {
		return nil, nil, fmt.Errorf("encode the key: %w", err)
	}
	usages := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth}
	ctx, end := context.WithTimeout(ctx, signing)
	defer end()
	name, uid, err := csr.RequestCertificateWithContext(ctx, a.Kubelet, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}), "",
		certificatesv1.KubeAPIServerClientKubeletSignerName, nil, usages, private)
	if err != nil {
		return nil, nil, fmt.Errorf("request it: %w", err)
	}
	if signed, err = csr.WaitForCertificate(ctx, a.Kubelet, name, uid); err != nil {
		return nil, nil, fmt.Errorf("wait for it: %w", err)
	}
	return signed, key, nil
}

// ServerCA is the file of a configuration with the certificates with which a kubelet verifies its API server. It is a file because agents of
// earlier versions take it for one, and refuse a configuration with a field that they do not know; and because a machine without it is not
// as configured, so that nodes take turns.
func ServerCA(authorities []byte) gardenextensionsv1alpha1.File {
	return gardenextensionsv1alpha1.File{Path: serverCAFile, Content: gardenextensionsv1alpha1.FileContent{
		Inline: &gardenextensionsv1alpha1.FileContentInline{Data: string(authorities)},
	}}
}

// trustServers has the kubelet trust what the configuration says, which is nothing if an earlier version of the gardenlet has written it.
func (a *Agent) trustServers(c Configuration) error {
	i := slices.IndexFunc(c.Files, func(f gardenextensionsv1alpha1.File) bool { return f.Path == serverCAFile })
	if i < 0 {
		return nil
	}
	file, err := decodeFile(&c.Files[i])
	if err != nil {
		return fmt.Errorf("file %q: %w", serverCAFile, err)
	}
	if _, err := parse(file.Data); err != nil {
		return fmt.Errorf("file %q: %w", serverCAFile, err)
	}
	if err := a.trust(file.Data); err != nil {
		return fmt.Errorf("write the kubeconfig of the kubelet: %w", err)
	}
	return nil
}

// trust has the kubelet, and the agent that uses the same file, verify the API server with these certificates.
func (a *Agent) trust(authorities []byte) error {
	path := a.Machine.at(a.Kubeconfig)
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	same := true
	for _, cluster := range config.Clusters {
		same = same && bytes.Equal(cluster.CertificateAuthorityData, authorities)
		cluster.CertificateAuthorityData = authorities
	}
	if same {
		return nil
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode it: %w", err)
	}
	if err := a.Machine.unsettle(kubeletUnit, Unit); err != nil {
		return err
	}
	return write(path, stateMode, data)
}

// dropOwn removes a certificate of the agent that the authority has not signed. The agent requests another one when it starts.
func (a *Agent) dropOwn(authority *x509.Certificate) error {
	path := a.Machine.at(filepath.Join(a.Machine.StateDir, pkiDir, certificateName+"-current.pem"))
	data, err := os.ReadFile(path) //nolint:gosec // It is in the folder of the agent.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	if leaf, err := parse(data); err == nil && leaf.CheckSignatureFrom(authority) == nil {
		return nil
	}
	if err := a.Machine.unsettle(Unit); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove it: %w", err)
	}
	return nil
}

// parse reads the first certificate of a file.
func parse(data []byte) (*x509.Certificate, error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != blockCertificate {
			continue
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parse certificate: %w", err)
		}
		return parsed, nil
	}
	return nil, errors.New("there is no certificate")
}
