// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
)

// Port is where the API server listens, in its pod as well as at its load balancer: the endpoint that pods of the shoot see
// behind the Service default/kubernetes is the advertised address with the port of the process.
const Port = 443

// Names of the API server's clients, as its certificates name them.
const (
	// KubeletClientUser is the API server as the kubelets see it.
	KubeletClientUser = "system:kube-apiserver:kubelet"
	// FrontProxyUser is the API server as extension API servers see it.
	FrontProxyUser = "system:aggregated-api-proxy"
)

// Values describe one API server.
type Values struct {
	Namespace string
	// Image is the container image.
	Image string
	// Replicas is the number of instances.
	Replicas int32
	// ServiceNetworks are the ranges of Service addresses of the shoot.
	ServiceNetworks []string
	// AdvertiseAddress is the IP address of the load balancer; empty if it only has a name.
	AdvertiseAddress string
	// ExternalHostname is the host name that is given out to clients.
	ExternalHostname string
	// Issuer is the issuer of service account tokens; it does not change in the life of a shoot.
	Issuer string
	// ETCDMain and ETCDEvents are the URLs of the two stores.
	ETCDMain, ETCDEvents string
	// Secrets names what the server reads.
	Secrets Secrets
	// Encryption says how objects are encrypted in etcd.
	Encryption Encryption
	// Settings is what the shoot's owner asks for; it may be nil.
	Settings *gardencorev1beta1.KubeAPIServerConfig
}

// Secrets are the names of Secrets. Each has the keys that package secrets gives it.
type Secrets struct {
	// CAClient, CAFrontProxy and CAETCD are the bundles of authorities that verify clients, the aggregation layer and the stores.
	CAClient, CAFrontProxy, CAETCD string
	// Serving is the server's certificate; ETCDClient, KubeletClient and FrontProxyClient are those of its own requests.
	Serving, ETCDClient, KubeletClient, FrontProxyClient string
	// ServiceAccountKey signs service account tokens, ServiceAccountKeys is the bundle that verifies them.
	ServiceAccountKey, ServiceAccountKeys string
}

// Encryption describes encryption at rest.
type Encryption struct {
	// Provider is aescbc, aesgcm or secretbox.
	Provider gardencorev1beta1.EncryptionProviderType
	// Keys are the key in use and those that are needed to read.
	Keys []component.EncryptionSecret
	// Resources are encrypted in addition to Secrets.
	Resources []string
}

// Service returns the load balancer of the API server. It is needed before the rest: its addresses go into the server's
// certificate.
func Service(namespace string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gardencorev1beta1.ServiceKubeAPIServer, Labels: labels()},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeLoadBalancer,
			Selector: labels(),
			Ports: []corev1.ServicePort{{
				Name: "kube-apiserver", Port: Port, TargetPort: intstr.FromInt32(Port), Protocol: corev1.ProtocolTCP,
			}},
		},
	}
}

// ServerNames are the DNS names that the server's certificate has to carry beside those of the shoot's domains.
func ServerNames(namespace string) []string {
	service := gardencorev1beta1.ServiceKubeAPIServer
	return []string{
		"localhost", service, service + "." + namespace, service + "." + namespace + ".svc",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + gardencorev1beta1.DefaultClusterDomain,
	}
}

func labels() map[string]string {
	return component.ControlPlaneLabels("kubernetes", "apiserver")
}
