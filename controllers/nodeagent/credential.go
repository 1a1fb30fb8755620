// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/certificate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	nodeUserPrefix = "system:node:"
	// certificateLife is short, because what is signed cannot be taken back when the node goes.
	certificateLife = 24 * time.Hour
	certificateName = "gardener-node-agent"
)

// nodeOf returns the name of the Node that a certificate of a kubelet is for. It is the only name that is sure to be that of the Node.
func nodeOf(file string) (string, error) {
	data, err := os.ReadFile(file) //nolint:gosec // The file is named in the kubeconfig of the kubelet.
	if err != nil {
		return "", fmt.Errorf("read the certificate of the kubelet: %w", err)
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "", fmt.Errorf("read the certificate of the kubelet: %w", err)
		}
		if name, found := strings.CutPrefix(leaf.Subject.CommonName, nodeUserPrefix); found && name != "" {
			return name, nil
		}
		return "", fmt.Errorf("read the certificate of the kubelet: its name is %q, which is not that of a node", leaf.Subject.CommonName)
	}
	return "", fmt.Errorf("read the certificate of the kubelet: there is none in %q", file)
}

// request is what an agent asks to be: the one on a node, and one of those of the pool (GRM-CSR-2).
func request(node, pool string) *x509.CertificateRequest {
	return &x509.CertificateRequest{Subject: pkix.Name{
		CommonName:   gardencorev1beta1.UserPrefixNodeAgentMachine + node,
		Organization: []string{gardencorev1beta1.GroupNodeAgents, gardencorev1beta1.GroupPrefixNodeAgentsPool + pool},
	}}
}

// credential keeps the certificate of the agent in files.
type credential struct {
	manager certificate.Manager
	path    string
}

// newCredential requests the certificate as the kubelet, now and whenever it ends. Cancel ctx to end that.
func newCredential(ctx context.Context, kubelet kubernetes.Interface, o Options, node string) (*credential, error) {
	dir := filepath.Join(o.StateDir, "pki")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of certificates: %w", err)
	}
	store, err := certificate.NewFileStore(certificateName, dir, dir, "", "")
	if err != nil {
		return nil, fmt.Errorf("open the certificates of the agent: %w", err)
	}
	life, wanted := certificateLife, request(node, o.Pool)
	manager, err := certificate.NewManager(&certificate.Config{
		ClientsetFn: func(*tls.Certificate) (kubernetes.Interface, error) { return kubelet, nil },
		// A template that may change makes the manager look whether the stored certificate fits, for one of an earlier life of this machine.
		GetTemplate: func() *x509.CertificateRequest { return wanted },
		SignerName:  certificatesv1.KubeAPIServerClientSignerName, RequestedCertificateLifetime: &life,
		GetUsages: certificate.DefaultKubeletClientGetUsages, CertificateStore: store, Name: certificateName, Ctx: &ctx,
	})
	if err != nil {
		return nil, fmt.Errorf("keep the certificate of the agent: %w", err)
	}
	return &credential{manager: manager, path: store.CurrentPath()}, nil
}

// config is how the agent reaches the server that the kubelet reaches. The files of the certificate are read anew when they change.
func (c *credential) config(kubelet *rest.Config) *rest.Config {
	own := rest.AnonymousClientConfig(kubelet)
	own.CertFile, own.KeyFile = c.path, c.path
	return own
}

// await waits for the first certificate.
func (c *credential) await(ctx context.Context, pause func(context.Context) error) error {
	for {
		_, err := os.Stat(c.path)
		if err == nil && c.manager.Current() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for the certificate of the agent: %w", err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
