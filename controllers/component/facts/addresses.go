// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// clusterIssuer is the issuer of service account tokens of a shoot without any domain.
const clusterIssuer = "https://kubernetes.default.svc." + gardencorev1beta1.DefaultClusterDomain

// Hosts are the host names of a shoot's API server; each is empty if the shoot has none of that sort.
type Hosts struct {
	// External is below the domain of the shoot's owner, Internal below that of the seed.
	External, Internal string
}

// HostsOf derives the host names. A domain whose provider is unmanaged is the owner's own business.
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
	var names []string
	for _, name := range []string{h.External, h.Internal} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Issuer is the issuer of service account tokens. It must not change in the life of a shoot.
func (h Hosts) Issuer() string {
	switch {
	case h.Internal != "":
		return "https://" + h.Internal
	case h.External != "":
		return "https://" + h.External
	default:
		return clusterIssuer
	}
}

// NodeServer is the URL under which nodes reach the API server: a name outlives a change of the load balancer.
func (h Hosts) NodeServer(loadBalancer string) string {
	if h.Internal != "" {
		return "https://" + h.Internal
	}
	return URL(loadBalancer)
}

// Advertised lists the addresses that are given out, the preferred one first.
func (h Hosts) Advertised(loadBalancer string) []gardencorev1beta1.ShootAdvertisedAddress {
	var list []gardencorev1beta1.ShootAdvertisedAddress
	if h.External != "" {
		list = append(list, gardencorev1beta1.ShootAdvertisedAddress{Name: gardencorev1beta1.AdvertisedAddressExternal, URL: "https://" + h.External})
	} else {
		list = append(list, gardencorev1beta1.ShootAdvertisedAddress{Name: gardencorev1beta1.AdvertisedAddressUnmanaged, URL: URL(loadBalancer)})
	}
	if h.Internal != "" {
		list = append(list, gardencorev1beta1.ShootAdvertisedAddress{Name: gardencorev1beta1.AdvertisedAddressInternal, URL: "https://" + h.Internal})
	}
	return list
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
		if ingress.IP != "" {
			return ingress.IP
		}
		if ingress.Hostname != "" {
			return ingress.Hostname
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
