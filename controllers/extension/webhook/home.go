// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// Ports of the Service, and of the pods behind it, unless Home says otherwise.
const (
	SeedPort  = 10250
	ShootPort = 10251
)

// Home is where an extension answers: a Service in its namespace, with a port for the API server of the seed and one for those of shoots.
type Home struct {
	// Namespace of the extension.
	Namespace string
	// Service is its name.
	Service string
	// Address replaces the Service by a host outside of the cluster, with ports of its own, for an extension that runs on a machine.
	Address *Address
}

// Address is a host with two ports.
type Address struct {
	Host                string
	SeedPort, ShootPort int
}

// ServiceFor is the Service of an extension, whose pods have labels. Its annotations let the API servers in: that of the seed, which is no
// pod, and those of shoots, whose pods have the label networking.resources.gardener.cloud/to-extensions-all-webhook-targets (EXT-WH-4).
func (h Home) ServiceFor(pods map[string]string) *corev1.Service {
	port := func(name string, number int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Protocol: corev1.ProtocolTCP, Port: number, TargetPort: intstr.FromInt32(number)}
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Service, Annotations: map[string]string{
			gardenresourcesv1alpha1.AnnotationFromWorldToPorts:   reach.Ports(reach.TCP(SeedPort)),
			reach.FromAPIServers():                               reach.Ports(reach.TCP(ShootPort)),
			gardenresourcesv1alpha1.AnnotationNamespaceSelectors: reach.Shoots(),
			gardenresourcesv1alpha1.AnnotationNamespaceAlias:     reach.Extensions,
		}},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: pods, Ports: []corev1.ServicePort{port("seed", SeedPort), port("shoots", ShootPort)}},
	}
}

// seed is how the API server of the seed reaches the webhooks.
func (h Home) seed(bundle []byte) at {
	return func(path string) admissionregistrationv1.WebhookClientConfig {
		if h.Address != nil {
			return byURL(h.Address.Host, h.Address.SeedPort, path, bundle)
		}
		return admissionregistrationv1.WebhookClientConfig{CABundle: bundle, Service: &admissionregistrationv1.ServiceReference{
			Namespace: h.Namespace, Name: h.Service, Port: new(int32(SeedPort)), Path: &path,
		}}
	}
}

// shoot is how those of shoots reach them: not through their tunnels, but by a name of the seed (EXT-WH-4).
func (h Home) shoot(bundle []byte) at {
	return func(path string) admissionregistrationv1.WebhookClientConfig {
		if h.Address != nil {
			return byURL(h.Address.Host, h.Address.ShootPort, path, bundle)
		}
		return byURL(h.Service+"."+h.Namespace, ShootPort, path, bundle)
	}
}

func byURL(host string, port int, path string, bundle []byte) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{CABundle: bundle, URL: new("https://" + net.JoinHostPort(host, strconv.Itoa(port)) + path)}
}

// names are what the certificate is for.
func (h Home) names() (names, addresses []string) {
	if h.Address != nil {
		if net.ParseIP(h.Address.Host) != nil {
			return nil, []string{h.Address.Host}
		}
		return []string{h.Address.Host}, nil
	}
	host := h.Service + "." + h.Namespace
	return []string{h.Service, host, host + ".svc", host + ".svc." + gardencorev1beta1.DefaultClusterDomain}, nil
}

// ports are those that the process listens on.
func (h Home) ports() (seed, shoot int) {
	if h.Address != nil {
		return h.Address.SeedPort, h.Address.ShootPort
	}
	return SeedPort, ShootPort
}
