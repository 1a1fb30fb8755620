// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigSpec says what a kubeconfig with one cluster and one user contains.
type KubeconfigSpec struct {
	// Context names the cluster, the user and the context.
	Context string
	// Server is the URL of the API server.
	Server string
	// CA verifies the server.
	CA []byte
	// Certificate authenticates the user. If it is nil, Token or TokenFile does.
	Certificate *Certificate
	// Token is written into the kubeconfig, TokenFile only refers to a file.
	Token     string
	TokenFile string
	// CertificateFile and KeyFile refer to files beside the kubeconfig, as does CAFile if CA is empty.
	CertificateFile, KeyFile, CAFile string
}

// ReadKubeconfig reads the server, its CA and the token of the current context. Errors do not quote the kubeconfig.
func ReadKubeconfig(data []byte) (KubeconfigSpec, error) {
	config, err := clientcmd.Load(data)
	if err != nil {
		return KubeconfigSpec{}, errors.New("this is no kubeconfig")
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil || config.Clusters[current.Cluster] == nil {
		return KubeconfigSpec{}, errors.New("the kubeconfig names no server")
	}
	server := config.Clusters[current.Cluster]
	spec := KubeconfigSpec{Context: config.CurrentContext, Server: server.Server, CA: server.CertificateAuthorityData}
	if user := config.AuthInfos[current.AuthInfo]; user != nil {
		spec.Token = user.Token
	}

	return spec, nil
}

// Kubeconfig writes a kubeconfig.
func Kubeconfig(spec KubeconfigSpec) ([]byte, error) {
	user := &clientcmdapi.AuthInfo{
		Token: spec.Token, TokenFile: spec.TokenFile,
		ClientCertificate: spec.CertificateFile, ClientKey: spec.KeyFile,
	}
	if spec.Certificate != nil {
		user.ClientCertificateData = spec.Certificate.Certificate
		user.ClientKeyData = spec.Certificate.Key
	}
	cluster := &clientcmdapi.Cluster{Server: spec.Server, CertificateAuthorityData: spec.CA}
	if len(spec.CA) == 0 {
		cluster.CertificateAuthority = spec.CAFile
	}
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{spec.Context: cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{spec.Context: user},
		Contexts:       map[string]*clientcmdapi.Context{spec.Context: {Cluster: spec.Context, AuthInfo: spec.Context}},
		CurrentContext: spec.Context,
	})
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig %q: %w", spec.Context, err)
	}
	return data, nil
}
