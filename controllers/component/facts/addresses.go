// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// clusterIssuer is the issuer of service account tokens of a shoot without any domain.
const clusterIssuer = "https://kubernetes.default.svc." + gardencorev1beta1.DefaultClusterDomain

// Hosts are the host names of the API server of a shoot. Each is empty if the shoot has no such name.
type Hosts struct {
	// External is below the domain of the shoot's owner, Internal below that of the seed.
	External, Internal string
}

// HostsOf derives the host names. A domain whose provider is unmanaged gets no host name: its owner manages the records.
func HostsOf(shoot *gardencorev1beta1.Shoot, project string, seed *gardencorev1beta1.Seed) Hosts {
	h := Hosts{}
	if internal := seed.Spec.DNS.Internal; internal != nil {
		h.Internal = strings.Join([]string{gardencorev1beta1.APIServerFQDNPrefix, shoot.Name, project, internal.Domain}, ".")
	}
	if query.DomainProvider(shoot.Spec.DNS) != nil && shoot.Spec.DNS.Domain != nil {
		h.External = gardencorev1beta1.APIServerFQDNPrefix + "." + *shoot.Spec.DNS.Domain
	}
	return h
}

// Names lists the host names that exist.
func (h Hosts) Names() []string {
	return slices.DeleteFunc([]string{h.External, h.Internal}, func(name string) bool { return name == "" })
}

// Issuer is the issuer of service account tokens. It must not change in the life of a shoot.
func (h Hosts) Issuer() string {
	if host := cmp.Or(h.Internal, h.External); host != "" {
		return "https://" + host
	}
	return clusterIssuer
}

// NodeServer is the URL under which nodes reach the API server. A name is preferred, because it stays the same when the address of
// the load balancer changes.
func (h Hosts) NodeServer(loadBalancer string) string {
	return URL(cmp.Or(h.Internal, loadBalancer))
}

// Advertised lists the addresses that the status of the shoot publishes, the preferred one first.
func (h Hosts) Advertised(loadBalancer string) []gardencorev1beta1.ShootAdvertisedAddress {
	list := []gardencorev1beta1.ShootAdvertisedAddress{{Name: gardencorev1beta1.AdvertisedAddressUnmanaged, URL: URL(loadBalancer)}}
	if h.External != "" {
		list[0] = gardencorev1beta1.ShootAdvertisedAddress{Name: gardencorev1beta1.AdvertisedAddressExternal, URL: URL(h.External)}
	}
	if h.Internal != "" {
		list = append(list, gardencorev1beta1.ShootAdvertisedAddress{Name: gardencorev1beta1.AdvertisedAddressInternal, URL: URL(h.Internal)})
	}
	return list
}

// IngressHost is the DNS name of whatever the ingress controller of the shoot serves, or empty if there is none: it has no such controller,
// or nobody manages records of its domain (EXT-DNS-1).
func (s Shoot) IngressHost() string {
	domain, managed := strings.CutPrefix(s.Hosts.External, gardencorev1beta1.APIServerFQDNPrefix+".")
	if !managed || !s.Workers() || query.NginxIngress(&s.Shoot.Spec) == nil {
		return ""
	}
	return "*." + gardencorev1beta1.IngressPrefix + "." + domain
}

// URL is the URL of an API server at an address.
func URL(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		return "https://[" + address + "]"
	}
	return "https://" + address
}

// LoadBalancerAddress is the first address of a load balancer, or empty if it has none yet.
func LoadBalancerAddress(service *corev1.Service) string {
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		if address := cmp.Or(ingress.IP, ingress.Hostname); address != "" {
			return address
		}
	}
	return ""
}

// IsIP reports whether an address is an IP address rather than a name.
func IsIP(address string) bool {
	_, err := netip.ParseAddr(address)
	return err == nil
}

// RecordType is the type of a DNS record that points to an address.
func RecordType(address string) gardenextensionsv1alpha1.DNSRecordType {
	ip, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return gardenextensionsv1alpha1.DNSRecordTypeCNAME
	case ip.Is4():
		return gardenextensionsv1alpha1.DNSRecordTypeA
	default:
		return gardenextensionsv1alpha1.DNSRecordTypeAAAA
	}
}

// FirstAddress is the address of the Service default/kubernetes: the first one of the range.
func FirstAddress(network string) (string, error) {
	return serviceAddress(network, 1)
}

// DNSAddress is the address of the DNS server of the shoot: the tenth one of the range, by custom.
func (s Shoot) DNSAddress() (string, error) {
	return serviceAddress(s.ServiceNetworks()[0], 10)
}

// NodeDNSAddress is the address of the DNS cache on each node, by convention. It leads nowhere else.
const NodeDNSAddress = "169.254.20.10"

// ResolverAddress is the address of the DNS server that pods ask: the cache on their node, if there is one.
func (s Shoot) ResolverAddress() (string, error) {
	if query.NodeLocalDNS(&s.Shoot.Spec) != nil {
		return NodeDNSAddress, nil
	}
	return s.DNSAddress()
}

func serviceAddress(network string, number int) (string, error) {
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return "", fmt.Errorf("parse service network %q: %w", network, err)
	}
	address := prefix.Masked().Addr()
	for range number {
		address = address.Next()
	}
	return address.String(), nil
}
