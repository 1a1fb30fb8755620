// SPDX-License-Identifier: Apache-2.0

package component

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// Keys of the files that every client of an API server has.
const (
	KubeconfigKey = gardencorev1beta1.DataKeyKubeconfig
	caFolder      = "ca"
	clientFolder  = "client"
	configFolder  = "kubeconfig"
)

// ChecksumAnnotation is put on pod templates, so that pods roll when their configuration changes under an unchanged name.
func ChecksumAnnotation(name string) string {
	return "checksum/" + name
}

// Checksum is a short hash of texts, for ChecksumAnnotation.
func Checksum(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// YAML writes a configuration file.
func YAML(config any) (string, error) {
	data, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return string(data), nil
}

// FeatureGates is the value of the flag of the same name, sorted; it is empty if there are none.
func FeatureGates(gates map[string]bool) string {
	parts := make([]string, 0, len(gates))
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		parts = append(parts, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(parts, ",")
}

// Access is how a component of the control plane reaches the shoot's API server.
type Access struct {
	// Server is the URL.
	Server string
	// CABundleSecret names the Secret whose bundle.crt verifies the server, ClientSecret the one with the component's certificate.
	CABundleSecret string
	ClientSecret   string
}

// Kubeconfig returns the ConfigMap with a kubeconfig that refers to files beside it and holds no secret itself.
func (a Access) Kubeconfig(namespace, name string) (*corev1.ConfigMap, error) {
	data, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
		Context: namespace, Server: a.Server,
		CAFile:          File(caFolder, gardencorev1beta1.DataKeyCertificateBundle),
		CertificateFile: File(clientFolder, secrets.DataKeyCertificate),
		KeyFile:         File(clientFolder, secrets.DataKeyPrivateKey),
	})
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{KubeconfigKey: string(data)},
	}, nil
}

// Files are what a pod needs for the kubeconfig in the ConfigMap of that name.
func (a Access) Files(configMap string) []corev1.VolumeProjection {
	return []corev1.VolumeProjection{
		FromSecret(a.CABundleSecret, caFolder, gardencorev1beta1.DataKeyCertificateBundle),
		FromSecret(a.ClientSecret, clientFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
		FromConfigMap(configMap, configFolder, KubeconfigKey),
	}
}

// KubeconfigFile is the path of the kubeconfig in a pod with these files.
func (a Access) KubeconfigFile() string {
	return File(configFolder, KubeconfigKey)
}
