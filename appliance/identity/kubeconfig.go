// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Access is the content of a kubeconfig with one context: the server, its CA and the credentials of the user.
type Access struct {
	// Name is the name of the cluster, the user and the context.
	Name string
	// Server is the URL of the server.
	Server string
	// CABundle has the authorities that may sign the server's certificate.
	CABundle []byte
	// CertPEM and KeyPEM are a client certificate and its key.
	CertPEM, KeyPEM []byte
	// Token is a bearer token.
	Token string
	// Namespace is the default namespace of commands.
	Namespace string
}

// Kubeconfig returns a kubeconfig that does not refer to other files.
func (a Access) Kubeconfig() *clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	cluster := clientcmdapi.NewCluster()
	cluster.Server = a.Server
	cluster.CertificateAuthorityData = a.CABundle
	user := clientcmdapi.NewAuthInfo()
	user.ClientCertificateData = a.CertPEM
	user.ClientKeyData = a.KeyPEM
	user.Token = a.Token
	context := clientcmdapi.NewContext()
	context.Cluster, context.AuthInfo, context.Namespace = a.Name, a.Name, a.Namespace
	c.Clusters[a.Name], c.AuthInfos[a.Name], c.Contexts[a.Name] = cluster, user, context
	c.CurrentContext = a.Name
	return c
}

// AdminAccess returns the administrator's access to the garden at server.
func (c *Certificates) AdminAccess(name, server string) Access {
	c.mu.RLock()
	defer c.mu.RUnlock()

	return c.adminAccess(name, server)
}

func (c *Certificates) adminAccess(name, server string) Access {
	return Access{Name: name, Server: server, CABundle: c.authorities.Server.Bundle, CertPEM: c.Admin.CertPEM, KeyPEM: c.Admin.KeyPEM}
}

// WriteAdminKubeconfig writes a kubeconfig for administrators of the garden at server to the data directory.
func (c *Certificates) WriteAdminKubeconfig(server string) error {
	c.mu.Lock() // An older certificate must not replace a newer one.
	defer c.mu.Unlock()

	return writeKubeconfig(AdminKubeconfigPath(c.dir), c.adminAccess("terrarium", server).Kubeconfig(), giveLikeDirectory)
}

// WriteKubeconfig replaces the file with c, readable only by the user who runs this process.
func WriteKubeconfig(path string, c *clientcmdapi.Config) error {
	return writeKubeconfig(path, c, keep)
}

func writeKubeconfig(path string, c *clientcmdapi.Config, give func(f *os.File, dir string) error) error {
	data, err := clientcmd.Write(*c)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return replaceFile(path, data, give)
}

// MergeKubeconfig merges c into the kubeconfig at path, which need not exist, and sets c's current context as the current one.
// Entries of the same name are replaced, others are kept. If path is a symbolic link, its target is changed.
func MergeKubeconfig(path string, c *clientcmdapi.Config) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return WriteKubeconfig(path, c)
	}
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	merged, err := clientcmd.LoadFromFile(target)
	if err != nil {
		return fmt.Errorf("read kubeconfig %q: %w", target, err)
	}
	maps.Copy(merged.Clusters, c.Clusters)
	maps.Copy(merged.AuthInfos, c.AuthInfos)
	maps.Copy(merged.Contexts, c.Contexts)
	merged.CurrentContext = c.CurrentContext
	return WriteKubeconfig(target, merged)
}
