// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
)

const (
	kubeconfigsName  = "kube-apiserver-kubeconfigs"
	kubeconfigFolder = "kubeconfigs"

	fieldKubeconfigs = "structuredAuthorization.kubeconfigs"
	fieldPlugins     = "admissionPlugins"
)

// kubeconfigs are the kubeconfigs of the owner, by their keys in the Secret that is mounted.
func kubeconfigs(f facts.Shoot) (map[string][]byte, error) {
	files := map[string][]byte{}
	config, err := authorizationConfiguration(f)
	if err != nil {
		return nil, err
	}
	if config != nil {
		authorizers, _ := config[authorizersKey].([]any)
		for i, authorizer := range authorizers[ownAuthorizers:] {
			webhook, _ := authorizer.(map[string]any)
			name, _ := webhook["name"].(string)
			if files[authorizerKey(i)], err = checked(fieldKubeconfigs, name, f.Handed.Authorizers[name]); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Handed.Plugins)) {
		if !takesKubeconfig(name) {
			continue
		}
		if files[pluginKey(name)], err = checked(fieldPlugins, name, f.Handed.Plugins[name]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// checked reads a kubeconfig and writes it again. As it is, it could make the server read its own files, run programs, or go through a
// proxy (GAC-KCFG-3). No content is quoted: there are credentials in it.
func checked(field, name string, data []byte) ([]byte, error) {
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, ConfigurationProblem(field, "what the Secret for %q has under the key %s is not a kubeconfig; correct it", name, kubeconfig.Key)
	}
	var unsafe []string
	for _, user := range config.AuthInfos {
		unsafe = append(unsafe, kubeconfig.UnsafeUser(user)...)
	}
	for _, cluster := range config.Clusters {
		unsafe = append(unsafe, kubeconfig.UnsafeCluster(cluster)...)
	}
	if len(unsafe) > 0 {
		slices.Sort(unsafe)
		return nil, ConfigurationProblem(field, "the kubeconfig for %q must not have %s; put certificates and credentials into it",
			name, strings.Join(slices.Compact(unsafe), ", "))
	}
	for _, cluster := range config.Clusters {
		if server, err := url.Parse(cluster.Server); err != nil || server.Scheme != "https" || server.Host == "" {
			return nil, ConfigurationProblem(field, "the kubeconfig for %q must have servers with https; correct the URL", name)
		}
	}
	written, err := clientcmd.Write(plain(config))
	if err != nil {
		return nil, ConfigurationProblem(field, "the kubeconfig for %q cannot be written; correct it", name)
	}
	return written, nil
}

// plain is a kubeconfig with nothing in it but connections and credentials.
func plain(config *clientcmdapi.Config) clientcmdapi.Config {
	out := clientcmdapi.NewConfig()
	for name, c := range config.Clusters {
		out.Clusters[name] = &clientcmdapi.Cluster{
			Server: c.Server, TLSServerName: c.TLSServerName, InsecureSkipTLSVerify: c.InsecureSkipTLSVerify, CertificateAuthorityData: c.CertificateAuthorityData,
		}
	}
	for name, u := range config.AuthInfos {
		out.AuthInfos[name] = &clientcmdapi.AuthInfo{
			ClientCertificateData: u.ClientCertificateData, ClientKeyData: u.ClientKeyData, Token: u.Token, Username: u.Username, Password: u.Password,
		}
	}
	for name, c := range config.Contexts {
		out.Contexts[name] = &clientcmdapi.Context{Cluster: c.Cluster, AuthInfo: c.AuthInfo}
	}
	out.CurrentContext = config.CurrentContext
	return *out
}

// kubeconfigSecret is the Secret with them, or nil if there are none.
func kubeconfigSecret(f facts.Shoot) (*corev1.Secret, error) {
	files, err := kubeconfigs(f)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: kubeconfigsName}, Type: corev1.SecretTypeOpaque, Data: files,
	}, nil
}
