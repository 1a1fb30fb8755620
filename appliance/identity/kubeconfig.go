// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
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

	return writeKubeconfig(AdminKubeconfigPath(c.dir), c.adminAccess("terrarium", server).Kubeconfig(), giveToOwnerOf)
}

// WriteKubeconfig replaces the file with c, readable only by the user who runs this process.
func WriteKubeconfig(path string, c *clientcmdapi.Config) error {
	return writeKubeconfig(path, c, keep)
}

func writeKubeconfig(path string, c *clientcmdapi.Config, give func(f *os.File, dir *os.Root) error) error {
	data, err := clientcmd.Write(*c)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return replaceFile(path, data, give)
}

// ErrOtherEntry says that a kubeconfig has an entry of the same name that leads to something else.
var ErrOtherEntry = errors.New("there is an entry of the same name for something else")

// MergeKubeconfig merges c into the kubeconfig at path, which need not exist, and sets c's current context as the current one. It returns the
// context that was the current one before. Entries of the same name are replaced, others are kept. If path is a symbolic link, its target
// is changed.
//
// An entry of the same name that is for another server, or for one with another authority, is somebody's access to something else: the error
// wraps ErrOtherEntry then and nothing is written, unless force is set.
func MergeKubeconfig(path string, c *clientcmdapi.Config, force bool) (before string, err error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", WriteKubeconfig(path, c)
	}
	if err != nil {
		return "", fmt.Errorf("read kubeconfig: %w", err)
	}
	merged, err := clientcmd.LoadFromFile(target)
	if err != nil {
		return "", fmt.Errorf("read kubeconfig %q: %w", target, err)
	}
	if other := otherEntry(merged, c); other != "" && !force {
		return "", fmt.Errorf("kubeconfig %q: %w: %s", target, ErrOtherEntry, other)
	}
	before = merged.CurrentContext
	maps.Copy(merged.Clusters, c.Clusters)
	maps.Copy(merged.AuthInfos, c.AuthInfos)
	maps.Copy(merged.Contexts, c.Contexts)
	merged.CurrentContext = c.CurrentContext
	return before, WriteKubeconfig(target, merged)
}

// otherEntry describes an entry that one of c would replace and that leads to something else; empty if there is none.
func otherEntry(is, c *clientcmdapi.Config) string {
	for name, fresh := range c.Clusters {
		old := is.Clusters[name]
		switch {
		case old == nil:
		case old.Server != fresh.Server:
			return fmt.Sprintf("cluster %q is at %s and not at %s", name, old.Server, fresh.Server)
		case !sameAuthority(old, fresh):
			return fmt.Sprintf("cluster %q at %s has another certificate authority", name, old.Server)
		}
	}
	for name, fresh := range c.Contexts {
		if old := is.Contexts[name]; old != nil && (old.Cluster != fresh.Cluster || old.AuthInfo != fresh.AuthInfo) {
			return fmt.Sprintf("context %q is user %q at cluster %q", name, old.AuthInfo, old.Cluster)
		}
	}
	for name := range c.AuthInfos {
		if is.AuthInfos[name] != nil && is.Clusters[name] == nil {
			return fmt.Sprintf("user %q is for a cluster of another name", name)
		}
	}
	return ""
}

// sameAuthority reports whether two clusters trust a common authority: while it is changed, there are two.
func sameAuthority(old, fresh *clientcmdapi.Cluster) bool {
	if bytes.Equal(old.CertificateAuthorityData, fresh.CertificateAuthorityData) {
		return true
	}
	certificates, err := cert.ParseCertsPEM(old.CertificateAuthorityData)
	if err != nil {
		return false
	}
	others, err := cert.ParseCertsPEM(fresh.CertificateAuthorityData)
	return err == nil && slices.ContainsFunc(certificates, func(c *x509.Certificate) bool { return slices.ContainsFunc(others, c.Equal) })
}
