// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	accessCAFolder     = "ca"
	accessClientFolder = "client"
	accessConfigFolder = "kubeconfig"

	// KubeconfigFile is the path of the kubeconfig in a pod with the files of an Access.
	KubeconfigFile = component.FilesDir + "/" + accessConfigFolder + "/" + gardencorev1beta1.DataKeyKubeconfig
	// CAFile is the path of the certificates that verify the server.
	CAFile = component.FilesDir + "/" + accessCAFolder + "/" + gardencorev1beta1.DataKeyCertificateBundle
)

// Access is how another component of the control plane reaches the API server.
type Access struct {
	// Kubeconfig holds a kubeconfig that refers to files beside it. It contains no secret.
	Kubeconfig *corev1.ConfigMap
	// Files are the kubeconfig and the files that it refers to.
	Files []corev1.VolumeProjection
}

// AccessOf is the access of a component that has asked for ClientRequests under its name.
func AccessOf(f facts.Shoot, in *component.Inputs, name string) (Access, error) {
	return accessAt(f, in, name, URL(f.Namespace))
}

// accessAt is the access of a component that reaches the API server at an address of its own.
func accessAt(f facts.Shoot, in *component.Inputs, name, server string) (Access, error) {
	data, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
		Context: f.Namespace, Server: server, CAFile: CAFile,
		CertificateFile: component.File(accessClientFolder, secrets.DataKeyCertificate),
		KeyFile:         component.File(accessClientFolder, secrets.DataKeyPrivateKey),
	})
	if err != nil {
		return Access{}, err
	}
	meta := metav1.ObjectMeta{Namespace: f.Namespace, Name: name + "-kubeconfig"}
	return Access{
		Kubeconfig: &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{gardencorev1beta1.DataKeyKubeconfig: string(data)}},
		Files: []corev1.VolumeProjection{
			in.BundleFile(gardencorev1beta1.SecretCACluster, accessCAFolder),
			in.CertificateFiles(name, accessClientFolder),
			component.FromConfigMap(meta.Name, accessConfigFolder, gardencorev1beta1.DataKeyKubeconfig),
		},
	}, nil
}

// ClientRequests are what AccessOf needs: the authority of the server, and a certificate for a user.
func ClientRequests(name, user string) []component.Request {
	return []component.Request{
		component.Authority(gardencorev1beta1.SecretCACluster),
		component.Certificate(gardencorev1beta1.SecretCAClient, secrets.CertificateSpec{
			Name: name, Usage: secrets.UsageClient, CommonName: user,
		}),
	}
}

// URL is where clients in the seed reach the API server of a shoot.
func URL(namespace string) string {
	return facts.URL(gardencorev1beta1.ServiceKubeAPIServer + "." + namespace + ".svc")
}
