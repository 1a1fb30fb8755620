// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// Name is the API server itself.
	Name component.Name = gardencorev1beta1.DeploymentKubeAPIServer
	// Exposure is its Service, which comes earlier, because many need the address, and goes later.
	Exposure component.Name = "kube-apiserver-service"

	image = "kube-apiserver"

	nameServing          = "kube-apiserver"
	nameETCDClient       = "etcd-client"
	nameKubeletClient    = "kube-apiserver-kubelet"
	nameFrontProxyClient = "kube-aggregator"
)

// ExposureComponent is the load balancer.
func ExposureComponent() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Exposure, Title: "the load balancer of the API server", Task: "apiserver-service",
		Service: func(f facts.Shoot) *corev1.Service { return Service(f.Namespace) },
		Render: func(f facts.Shoot, _ *component.Inputs) ([]client.Object, error) {
			return []client.Object{Service(f.Namespace)}, nil
		},
	}
}

// Component is the API server.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the API server", Task: "apiserver", After: []component.Name{etcd.Main, etcd.Events}, Addresses: []component.Name{Exposure},
		Images: []string{image}, Replicas: component.One[facts.Shoot],
		Care: component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Keep: func(f facts.Shoot) client.Object {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: EncryptionSecret}}
		},
		Secrets: requests,
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			v, err := valuesOf(f, in)
			if err != nil {
				return nil, err
			}
			return Render(v)
		},
	}
}

func valuesOf(f facts.Shoot, in *component.Inputs) (Values, error) {
	kept, _ := in.Kept.(*corev1.Secret)
	encryption, err := EncryptionInUse(f.Shoot, kept)
	if err != nil {
		return Values{}, err
	}
	v := Values{
		Namespace: f.Namespace, Image: in.Image(image), Replicas: in.Replicas, ServiceNetworks: f.ServiceNetworks(), Issuer: f.Hosts.Issuer(),
		ETCDMain: etcd.URL(f.Namespace, gardencorev1beta1.ETCDRoleMain), ETCDEvents: etcd.URL(f.Namespace, gardencorev1beta1.ETCDRoleEvents),
		Secrets: Secrets{
			CAClient: in.Secret(gardencorev1beta1.SecretCAClient).Bundle, CAFrontProxy: in.Secret(gardencorev1beta1.SecretCAFrontProxy).Bundle,
			CAETCD:  in.Secret(gardencorev1beta1.SecretCAETCD).Bundle,
			Serving: in.Secret(nameServing).Name, ETCDClient: in.Secret(nameETCDClient).Name, KubeletClient: in.Secret(nameKubeletClient).Name,
			FrontProxyClient: in.Secret(nameFrontProxyClient).Name, ServiceAccountKey: in.Secret(gardencorev1beta1.SecretServiceAccountKey).Name,
			ServiceAccountKeys: in.Secret(gardencorev1beta1.SecretServiceAccountKey).Bundle,
		},
		Encryption: Encryption{
			Provider: encryption.Provider.Type, Resources: encryption.Resources, Keys: in.Secret(gardencorev1beta1.SecretETCDEncryptionKey).Keys,
		},
		Settings: f.Shoot.Spec.Kubernetes.KubeAPIServer,
	}
	if balancer := in.Address(Exposure).LoadBalancer; facts.IsIP(balancer) {
		v.AdvertiseAddress = balancer
	}
	if names := f.Hosts.Names(); len(names) > 0 {
		v.ExternalHostname = names[0]
	}
	return v, nil
}

func requests(f facts.Shoot, addresses component.Addresses) ([]component.Request, error) {
	serving, err := servingCertificate(f, addresses[Exposure])
	if err != nil {
		return nil, err
	}
	client := func(name, authority, user string) component.Request {
		return component.Certificate(authority, secrets.CertificateSpec{Name: name, Usage: secrets.UsageClient, CommonName: user})
	}
	return []component.Request{
		component.Authority(gardencorev1beta1.SecretCAClient),
		component.Authority(gardencorev1beta1.SecretCAFrontProxy),
		component.Authority(gardencorev1beta1.SecretCAETCD),
		component.Certificate(gardencorev1beta1.SecretCACluster, serving),
		client(nameETCDClient, gardencorev1beta1.SecretCAETCD, "etcd-client"),
		client(nameKubeletClient, gardencorev1beta1.SecretCAClient, KubeletClientUser),
		client(nameFrontProxyClient, gardencorev1beta1.SecretCAFrontProxy, FrontProxyUser),
		component.RSAKey(gardencorev1beta1.SecretServiceAccountKey),
		component.EncryptionKey(gardencorev1beta1.SecretETCDEncryptionKey),
	}, nil
}

// servingCertificate stands for every name and address of the API server.
func servingCertificate(f facts.Shoot, exposed component.Address) (secrets.CertificateSpec, error) {
	inside, err := facts.FirstAddress(f.ServiceNetworks()[0])
	if err != nil {
		return secrets.CertificateSpec{}, fmt.Errorf("names of the API server: %w", err)
	}
	names := append(ServerNames(f.Namespace), f.Hosts.Names()...)
	ips := []string{"127.0.0.1", inside, exposed.ClusterIP}
	if facts.IsIP(exposed.LoadBalancer) {
		ips = append(ips, exposed.LoadBalancer)
	} else {
		names = append(names, exposed.LoadBalancer)
	}
	return secrets.CertificateSpec{Name: nameServing, Usage: secrets.UsageServer, CommonName: "kube-apiserver", DNSNames: names, IPs: ips}, nil
}

// URL is where clients in the seed reach the API server of a shoot.
func URL(namespace string) string {
	return facts.URL(gardencorev1beta1.ServiceKubeAPIServer + "." + namespace + ".svc")
}

// Access is how another component of the control plane reaches the API server. The certificate is what ClientRequests has
// asked for.
func Access(f facts.Shoot, in *component.Inputs, certificate string) component.Access {
	return component.Access{
		Server: URL(f.Namespace), CABundleSecret: in.Secret(gardencorev1beta1.SecretCACluster).Bundle,
		ClientSecret: in.Secret(certificate).Name,
	}
}

// ClientRequests are what Access needs: the authority of the server, and a certificate for a user.
func ClientRequests(certificate, user string) []component.Request {
	return []component.Request{
		component.Authority(gardencorev1beta1.SecretCACluster),
		component.Certificate(gardencorev1beta1.SecretCAClient, secrets.CertificateSpec{
			Name: certificate, Usage: secrets.UsageClient, CommonName: user,
		}),
	}
}
