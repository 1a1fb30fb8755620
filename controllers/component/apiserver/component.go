// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// Port is where the API server listens, in its pod as well as at its load balancer: pods of the shoot see the advertised
// address with the port of the process as the endpoint behind the Service default/kubernetes.
const Port = 443

// Names of the API server's clients in certificates.
const (
	// KubeletClientUser is the API server as kubelets see it.
	KubeletClientUser = "system:kube-apiserver:kubelet"
	// frontProxyUser is the API server as extension API servers see it.
	frontProxyUser = "system:aggregated-api-proxy"
)

const (
	// Name is the API server itself.
	Name component.Name = gardencorev1beta1.DeploymentKubeAPIServer
	// Exposure is its Service, which is deployed earlier, because many tasks need the address, and deleted later.
	Exposure component.Name = "kube-apiserver-service"

	image = "kube-apiserver"

	nameServing          = "kube-apiserver"
	nameKubeletClient    = "kube-apiserver-kubelet"
	nameFrontProxyClient = "kube-aggregator"
)

// ExposureComponent is the load balancer.
func ExposureComponent() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Exposure, Title: "the load balancer of the API server", Task: "apiserver-service",
		Service: service,
		Render: func(f facts.Shoot, _ *component.Inputs) ([]client.Object, error) {
			return []client.Object{service(f)}, nil
		},
	}
}

// Component is the API server.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the API server", Task: "apiserver", After: []component.Name{etcd.Main, etcd.Events}, Addresses: []component.Name{Exposure},
		Images: []string{image, tunnelImage}, Replicas: facts.Instances,
		Care: component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Keep: func(f facts.Shoot) client.Object {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: EncryptionSecret}}
		},
		Secrets: requests,
		Render:  render,
	}
}

func requests(f facts.Shoot, addresses component.Addresses) ([]component.Request, error) {
	serving, err := servingCertificate(f, addresses[Exposure])
	if err != nil {
		return nil, err
	}
	client := func(name, authority, user string) component.Request {
		return component.Certificate(authority, secrets.CertificateSpec{Name: name, Usage: secrets.UsageClient, CommonName: user})
	}
	kubelets := secrets.CertificateSpec{Name: nameKubeletClient, Usage: secrets.UsageClient, CommonName: KubeletClientUser, ServersComeLater: true}
	requests := []component.Request{
		component.Authority(gardencorev1beta1.SecretCAClient),
		component.Authority(gardencorev1beta1.SecretCAKubelet),
		component.Authority(gardencorev1beta1.SecretCAFrontProxy),
		component.Authority(gardencorev1beta1.SecretCAETCD),
		component.Certificate(gardencorev1beta1.SecretCACluster, serving),
		etcd.Client(),
		component.Certificate(gardencorev1beta1.SecretCAClient, kubelets),
		client(nameFrontProxyClient, gardencorev1beta1.SecretCAFrontProxy, frontProxyUser),
		component.RSAKey(gardencorev1beta1.SecretServiceAccountKey),
		component.EncryptionKey(gardencorev1beta1.SecretETCDEncryptionKey),
	}
	if f.Workers() {
		requests = append(requests, tunnelRequests(serving)...)
	}
	return requests, nil
}

// servingCertificate is valid for every name and address of the API server.
func servingCertificate(f facts.Shoot, exposed component.Address) (secrets.CertificateSpec, error) {
	inside, err := facts.FirstAddress(f.ServiceNetworks()[0])
	if err != nil {
		return secrets.CertificateSpec{}, fmt.Errorf("names of the API server: %w", err)
	}
	service := gardencorev1beta1.ServiceKubeAPIServer
	names := append([]string{
		"localhost", service, service + "." + f.Namespace, service + "." + f.Namespace + ".svc",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + gardencorev1beta1.DefaultClusterDomain,
	}, f.Hosts.Names()...)
	ips := []string{"127.0.0.1", inside, exposed.ClusterIP}
	if facts.IsIP(exposed.LoadBalancer) {
		ips = append(ips, exposed.LoadBalancer)
	} else {
		names = append(names, exposed.LoadBalancer)
	}
	return secrets.CertificateSpec{Name: nameServing, Usage: secrets.UsageServer, CommonName: "kube-apiserver", DNSNames: names, IPs: ips}, nil
}

// service returns the load balancer of the API server. The agents of the tunnel come in through it as well.
func service(f facts.Shoot) *corev1.Service {
	ports := []corev1.ServicePort{port("kube-apiserver", Port)}
	open := []reach.Port{reach.TCP(Port)}
	if f.Workers() {
		ports, open = append(ports, port("tunnel", TunnelPort)), append(open, reach.TCP(TunnelPort))
	}
	annotations := maps.Clone(f.Exposure.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, openTo(open))
	return component.Mutable(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace, Name: gardencorev1beta1.ServiceKubeAPIServer, Labels: labels(), Annotations: annotations,
		},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: labels(), Ports: ports,
			LoadBalancerClass: f.Exposure.Class, ExternalTrafficPolicy: f.Exposure.TrafficPolicy,
		},
	})
}

func port(name string, number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: number, TargetPort: intstr.FromInt32(number), Protocol: corev1.ProtocolTCP}
}

// openTo says who may reach the API server: nodes and users from everywhere, and from the seed those that serve all of its shoots.
func openTo(world []reach.Port) map[string]string {
	return map[string]string{
		gardenresourcesv1alpha1.AnnotationFromWorldToPorts:   reach.Ports(world...),
		gardenresourcesv1alpha1.AnnotationNamespaceAlias:     reach.AllShoots,
		gardenresourcesv1alpha1.AnnotationNamespaceSelectors: reach.ServersOfShoots(),
	}
}

func labels() map[string]string {
	return component.ControlPlaneLabels("kubernetes", "apiserver")
}
