// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Assignment says which Service has which address.
type Assignment map[types.UID]netip.Addr

// Assign decides which address of the pool each Service gets. A Service keeps the address that it has: according to
// held, which contains recent assignments that are not in the Services yet, or else according to its status. If two
// have the same address, the older one keeps it. The others get the address in spec.loadBalancerIP if it is free, or
// else the lowest free address. Services that cannot get one are not in the result.
func Assign(pool netip.Prefix, held Assignment, services []*corev1.Service) Assignment {
	services = slices.DeleteFunc(slices.Clone(services), func(s *corev1.Service) bool { return !Concerned(s) })
	slices.SortFunc(services, func(a, b *corev1.Service) int {
		if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
			return order
		}
		return strings.Compare(string(a.UID), string(b.UID))
	})
	taken := map[netip.Addr]bool{}
	assigned := Assignment{}
	give := func(service *corev1.Service, address netip.Addr) {
		if _, has := assigned[service.UID]; has || taken[address] || !usable(pool, address) {
			return
		}
		assigned[service.UID], taken[address] = address, true
	}
	for _, choose := range []func(*corev1.Service) netip.Addr{
		func(s *corev1.Service) netip.Addr { return held[s.UID] },
		current,
		requested,
		func(*corev1.Service) netip.Addr { return lowestFree(pool, taken) },
	} {
		for _, service := range services {
			give(service, choose(service))
		}
	}
	return assigned
}

// Concerned reports whether a Service gets an address from here: it is a load balancer without a class and is not
// being deleted.
func Concerned(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil && service.DeletionTimestamp == nil
}

// current is the address in the status, or none.
func current(service *corev1.Service) netip.Addr {
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		if address, err := netip.ParseAddr(ingress.IP); err == nil {
			return address
		}
	}
	return netip.Addr{}
}

// requested is the address that the Service requests, or none.
func requested(service *corev1.Service) netip.Addr {
	address, err := netip.ParseAddr(service.Spec.LoadBalancerIP)
	if err != nil {
		return netip.Addr{}
	}
	return address
}

func lowestFree(pool netip.Prefix, taken map[netip.Addr]bool) netip.Addr {
	for address := pool.Masked().Addr().Next(); pool.Contains(address); address = address.Next() {
		if !taken[address] {
			return address
		}
	}
	return netip.Addr{}
}

// usable excludes the first and the last address of the pool, which some software treats as network and broadcast address.
func usable(pool netip.Prefix, address netip.Addr) bool {
	return address.IsValid() && pool.Contains(address) && address != pool.Masked().Addr() && pool.Contains(address.Next())
}
