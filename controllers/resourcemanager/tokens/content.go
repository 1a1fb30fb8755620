// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clientcmdlatest "k8s.io/client-go/tools/clientcmd/api/latest"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// content is what a Secret gives to a client of a cluster.
type content struct {
	token string
	// ca verifies the API server of the cluster; it is only given to those that ask for it.
	ca []byte
}

// read is the content of a Secret, empty where it has none. It is in the kubeconfig if there is one.
func read(secret *corev1.Secret) (content, error) {
	data, found := secret.Data[gardenresourcesv1alpha1.DataKeyKubeconfig]
	if !found {
		return content{token: string(secret.Data[gardenresourcesv1alpha1.DataKeyToken]), ca: secret.Data[gardenresourcesv1alpha1.DataKeyBundle]}, nil
	}
	config, err := parse(data)
	if err != nil {
		return content{}, err
	}
	c := content{token: config.user.Token}
	if config.cluster != nil {
		c.ca = config.cluster.CertificateAuthorityData
	}
	return c, nil
}

// put puts the content into a Secret: into the user and the cluster of the current context if there is a kubeconfig, else beside it
// (GRM-TOKREQ-4, GRM-TOKREQ-9).
func (c content) put(secret *corev1.Secret) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	data, found := secret.Data[gardenresourcesv1alpha1.DataKeyKubeconfig]
	if !found {
		secret.Data[gardenresourcesv1alpha1.DataKeyToken] = []byte(c.token)
		delete(secret.Data, gardenresourcesv1alpha1.DataKeyBundle)
		if len(c.ca) > 0 {
			secret.Data[gardenresourcesv1alpha1.DataKeyBundle] = c.ca
		}
		return nil
	}
	config, err := parse(data)
	if err != nil {
		return err
	}
	config.user.Token = c.token
	if len(c.ca) > 0 {
		if config.cluster == nil {
			return errors.New("the kubeconfig of the Secret has no cluster for its current context")
		}
		config.cluster.CertificateAuthorityData, config.cluster.CertificateAuthority = c.ca, ""
	}
	written, err := yaml.Marshal(config.all)
	if err != nil {
		return errors.New("write the kubeconfig of the Secret: it cannot be encoded")
	}
	secret.Data[gardenresourcesv1alpha1.DataKeyKubeconfig] = written
	delete(secret.Data, gardenresourcesv1alpha1.DataKeyBundle)
	return nil
}

// parsed is a kubeconfig with the user and the cluster of its current context; there may be no such cluster.
type parsed struct {
	all     *clientcmdv1.Config
	user    *clientcmdv1.AuthInfo
	cluster *clientcmdv1.Cluster
}

// parse reads a kubeconfig. Errors do not quote it.
func parse(data []byte) (parsed, error) {
	config := &clientcmdv1.Config{}
	if err := yaml.UnmarshalStrict(data, config); err != nil || config.APIVersion != clientcmdlatest.Version {
		return parsed{}, errors.New("the key kubeconfig of the Secret holds no kubeconfig")
	}
	found, user, cluster := parsed{all: config}, "", ""
	for i := range config.Contexts {
		if config.Contexts[i].Name == config.CurrentContext {
			user, cluster = config.Contexts[i].Context.AuthInfo, config.Contexts[i].Context.Cluster
		}
	}
	for i := range config.AuthInfos {
		if config.AuthInfos[i].Name == user {
			found.user = &config.AuthInfos[i].AuthInfo
		}
	}
	for i := range config.Clusters {
		if config.Clusters[i].Name == cluster {
			found.cluster = &config.Clusters[i].Cluster
		}
	}
	if found.user == nil {
		return parsed{}, fmt.Errorf("the kubeconfig of the Secret has no user for its current context %q", config.CurrentContext)
	}
	return found, nil
}
