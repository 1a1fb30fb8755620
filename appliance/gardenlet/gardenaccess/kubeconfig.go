// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// entryName is the name of cluster, user and context in the kubeconfigs of this package.
const entryName = "gardenlet"

// Material is the content of a kubeconfig for the garden. Either the token or certificate and key are set.
type Material struct {
	// Server is the URL of the garden.
	Server string
	// CA is the bundle, in PEM, with which the garden's certificate is verified; if empty, the system's roots are used.
	CA []byte
	// Certificate and Key are in PEM.
	Certificate, Key []byte
	// Token is a bearer token.
	Token string
	// Insecure says that the garden's certificate is not verified. This package never sets it.
	Insecure bool
}

// Kubeconfig renders the material. Cluster, user and context are all called gardenlet.
func (m Material) Kubeconfig() ([]byte, error) {
	config := clientcmdv1.Config{
		APIVersion:     "v1",
		Kind:           "Config",
		CurrentContext: entryName,
		Clusters: []clientcmdv1.NamedCluster{{Name: entryName, Cluster: clientcmdv1.Cluster{
			Server:                   m.Server,
			CertificateAuthorityData: m.CA,
			InsecureSkipTLSVerify:    m.Insecure,
		}}},
		AuthInfos: []clientcmdv1.NamedAuthInfo{{Name: entryName, AuthInfo: clientcmdv1.AuthInfo{
			ClientCertificateData: m.Certificate,
			ClientKeyData:         m.Key,
			Token:                 m.Token,
		}}},
		Contexts: []clientcmdv1.NamedContext{{Name: entryName, Context: clientcmdv1.Context{Cluster: entryName, AuthInfo: entryName}}},
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return data, nil
}

// ParseKubeconfig reads the material of the current context.
func ParseKubeconfig(kubeconfig []byte) (Material, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return Material{}, fmt.Errorf("parse kubeconfig: %w", err)
	}
	if config.ExecProvider != nil || config.AuthProvider != nil {
		return Material{}, errors.New("parse kubeconfig: credential plugins are not supported: use a token or a client certificate")
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return Material{}, fmt.Errorf("parse kubeconfig: %w", err)
	}
	return Material{
		Server:      config.Host,
		CA:          config.CAData,
		Certificate: config.CertData,
		Key:         config.KeyData,
		Token:       config.BearerToken,
		Insecure:    config.Insecure,
	}, nil
}

// Leaf returns the client certificate of the material; nil if it has none.
func (m Material) Leaf() (*x509.Certificate, error) {
	if len(m.Certificate) == 0 {
		return nil, nil //nolint:nilnil // a kubeconfig with a token has no certificate, and that is no error
	}
	block, _ := pem.Decode(m.Certificate)
	if block == nil {
		return nil, errors.New("client certificate is not in PEM format")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse client certificate: %w", err)
	}
	return leaf, nil
}

// Usable returns an error if the material cannot be used for this seed at this time.
func (m Material) Usable(seed string, now time.Time) error {
	leaf, err := m.Leaf()
	if err != nil || leaf == nil {
		return err
	}
	if now.After(leaf.NotAfter) {
		return fmt.Errorf("the client certificate expired on %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if want := gardencorev1beta1.UserPrefixSeed + seed; leaf.Subject.CommonName != want {
		return fmt.Errorf("the client certificate is for %q, not for %q", leaf.Subject.CommonName, want)
	}
	return nil
}
