// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

const (
	// Label is on the load balancers of shoots.
	Label = "local.provider.extensions.gardener.cloud/load-balancer"
	// AnnotationService has the namespace and the name of the Service in the shoot that a load balancer is for.
	AnnotationService = "local.provider.extensions.gardener.cloud/service"

	// Most is how many load balancers a shoot can have. All shoots share the addresses of a seed.
	Most = 8
	// MostPorts is how many ports these can have together. All shoots share the node ports of a seed.
	MostPorts = 32
	// mostNetworks is how many networks of clients a load balancer can have: each is a rule on every node.
	mostNetworks = 64

	prefix     = "load-balancer-"
	hashLength = 16
)

// Labels select the load balancers of a shoot in the namespace of its machines.
func Labels() map[string]string { return map[string]string{Label: "shoot"} }

// Name is the name of the load balancer for a Service of the shoot. Names of Services and namespaces put together are too long for one, and
// could be those of others.
func Name(service client.ObjectKey) string {
	sum := sha256.Sum256([]byte(service.String()))
	return prefix + hex.EncodeToString(sum[:hashLength])
}

// Concerned reports whether a Service of the shoot is to have a load balancer from here.
func Concerned(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil && service.DeletionTimestamp == nil
}

// refusedError says why a Service gets no load balancer. Trying again helps only when something else changes.
type refusedError struct{ reason, message string }

// Error is the message for the owner of the Service.
func (e *refusedError) Error() string { return e.message }

// wanted is the load balancer for a Service of the shoot in the namespace of its machines. It is refused if it cannot be made, or if the
// others of the shoot leave no room for it.
func wanted(namespace string, of *corev1.Service, others []corev1.Service) (*corev1.Service, error) {
	clients, err := networks(of)
	if err != nil {
		return nil, err
	}
	if err := room(others, of); err != nil {
		return nil, err
	}
	key := client.ObjectKeyFromObject(of)
	made := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: Name(key), Labels: Labels(), Annotations: map[string]string{AnnotationService: key.String()},
		},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeLoadBalancer,
			Selector: machinepod.Labels(),
			// Networks of other families would not keep clients of this one away.
			IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack), IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			LoadBalancerSourceRanges: clients,
			ExternalTrafficPolicy:    cmp.Or(of.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster),
			SessionAffinity:          cmp.Or(of.Spec.SessionAffinity, corev1.ServiceAffinityNone),
			SessionAffinityConfig:    of.Spec.SessionAffinityConfig.DeepCopy(),
		},
	}
	if local(made) {
		made.Spec.Selector = nil
	}
	for _, port := range of.Spec.Ports {
		if port.NodePort == 0 {
			return nil, &refusedError{"NoNodePort", "A load balancer leads to node ports: set spec.allocateLoadBalancerNodePorts to true"}
		}
		protocol := cmp.Or(port.Protocol, corev1.ProtocolTCP)
		made.Spec.Ports = append(made.Spec.Ports, corev1.ServicePort{
			Name: fmt.Sprintf("%s-%d", strings.ToLower(string(protocol)), port.Port), Protocol: protocol,
			Port: port.Port, TargetPort: intstr.FromInt32(port.NodePort),
		})
	}
	return made, nil
}

// room refuses a load balancer beside too many others.
func room(others []corev1.Service, of *corev1.Service) error {
	if len(others) >= Most {
		return &refusedError{"TooManyLoadBalancers", fmt.Sprintf("A cluster with local machines can have %d load balancers, and there are as many: delete another one first", Most)}
	}
	ports := len(of.Spec.Ports)
	for i := range others {
		ports += len(others[i].Spec.Ports)
	}
	if ports > MostPorts {
		return &refusedError{"TooManyPorts", fmt.Sprintf("The load balancers of a cluster with local machines can have %d ports together, and would have %d", MostPorts, ports)}
	}
	return nil
}

// networks are those of the clients that may use a load balancer; none if everybody may. They are in the spec, or in an annotation that
// is older than the field.
func networks(of *corev1.Service) ([]string, error) {
	given := of.Spec.LoadBalancerSourceRanges
	if text := strings.TrimSpace(of.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]); len(given) == 0 && text != "" {
		given = strings.Split(text, ",")
	}
	if len(given) == 0 {
		return nil, nil
	}
	var found []netip.Prefix
	for _, text := range given {
		network, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, &refusedError{"InvalidNetwork", fmt.Sprintf("%q is not a network of clients such as 203.0.113.0/24", text)}
		}
		if network.Addr().Is4() {
			found = append(found, network.Masked())
		}
	}
	slices.SortFunc(found, netip.Prefix.Compare)
	found = slices.Compact(found)
	switch {
	case len(found) == 0:
		return nil, &refusedError{"NoNetwork", "The load balancer has an IPv4 address, and none of the networks of its clients is of IPv4"}
	case len(found) > mostNetworks:
		return nil, &refusedError{"TooManyNetworks", fmt.Sprintf("A load balancer can have %d networks of clients, not %d", mostNetworks, len(found))}
	}
	texts := make([]string, 0, len(found))
	for _, network := range found {
		texts = append(texts, network.String())
	}
	return texts, nil
}

// settled is a load balancer with all that is wanted of it, and what its cluster has added to it.
func settled(live, want *corev1.Service) *corev1.Service {
	next := live.DeepCopy()
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, AnnotationService, want.Annotations[AnnotationService])
	spec, from := &next.Spec, want.DeepCopy().Spec
	spec.Type, spec.Selector, spec.Ports = from.Type, from.Selector, from.Ports
	spec.LoadBalancerSourceRanges, spec.ExternalTrafficPolicy = from.LoadBalancerSourceRanges, from.ExternalTrafficPolicy
	spec.SessionAffinity, spec.SessionAffinityConfig = from.SessionAffinity, from.SessionAffinityConfig
	if spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		spec.HealthCheckNodePort = 0
	}
	for i := range spec.Ports {
		same := func(have corev1.ServicePort) bool {
			return have.Port == spec.Ports[i].Port && have.Protocol == spec.Ports[i].Protocol
		}
		if index := slices.IndexFunc(live.Spec.Ports, same); index >= 0 {
			spec.Ports[i].NodePort = live.Spec.Ports[index].NodePort
		}
	}
	return next
}

// addresses are those of a load balancer, for the status of the shoot's Service.
func addresses(live *corev1.Service) []corev1.LoadBalancerIngress {
	const most = 8
	var found []corev1.LoadBalancerIngress
	for _, have := range live.Status.LoadBalancer.Ingress {
		if len(found) == most {
			break
		}
		found = append(found, corev1.LoadBalancerIngress{IP: have.IP, Hostname: have.Hostname, IPMode: have.IPMode})
	}
	return found
}
