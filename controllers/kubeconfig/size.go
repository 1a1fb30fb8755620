// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/apis/keysize"
)

// Outsized reports whether the keys in a kubeconfig are made to keep this machine busy. Certificates are read without computing.
func Outsized(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) bool {
	return keysize.Outsized(user.ClientKeyData, cluster.CertificateAuthorityData, user.ClientCertificateData)
}
