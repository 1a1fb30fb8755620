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

// readToken is the token of a Secret, or nothing. It is in the kubeconfig if there is one.
func readToken(secret *corev1.Secret) (string, error) {
	data, found := secret.Data[gardenresourcesv1alpha1.DataKeyKubeconfig]
	if !found {
		return string(secret.Data[gardenresourcesv1alpha1.DataKeyToken]), nil
	}
	_, user, err := parse(data)
	if err != nil {
		return "", err
	}
	return user.Token, nil
}

// putToken puts a token into a Secret: into the user of the current context if there is a kubeconfig, else beside it (GRM-TOKREQ-4).
func putToken(secret *corev1.Secret, token string) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	data, found := secret.Data[gardenresourcesv1alpha1.DataKeyKubeconfig]
	if !found {
		secret.Data[gardenresourcesv1alpha1.DataKeyToken] = []byte(token)
		return nil
	}
	config, user, err := parse(data)
	if err != nil {
		return err
	}
	user.Token = token
	written, err := yaml.Marshal(config)
	if err != nil {
		return errors.New("write the kubeconfig of the Secret: it cannot be encoded")
	}
	secret.Data[gardenresourcesv1alpha1.DataKeyKubeconfig] = written
	return nil
}

// parse reads a kubeconfig and finds the user of its current context. Errors do not quote the kubeconfig.
func parse(data []byte) (*clientcmdv1.Config, *clientcmdv1.AuthInfo, error) {
	config := &clientcmdv1.Config{}
	if err := yaml.UnmarshalStrict(data, config); err != nil || config.APIVersion != clientcmdlatest.Version {
		return nil, nil, errors.New("the key kubeconfig of the Secret holds no kubeconfig")
	}
	name := ""
	for i := range config.Contexts {
		if config.Contexts[i].Name == config.CurrentContext {
			name = config.Contexts[i].Context.AuthInfo
		}
	}
	for i := range config.AuthInfos {
		if config.AuthInfos[i].Name == name {
			return config, &config.AuthInfos[i].AuthInfo, nil
		}
	}
	return nil, nil, fmt.Errorf("the kubeconfig of the Secret has no user for its current context %q", config.CurrentContext)
}
