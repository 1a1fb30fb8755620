// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// A load balancer leads to all machines whose nodes are ready, by a selector: each node passes on what comes to a node port. With the traffic
// policy Local a node serves nothing but its own pods, and drops the rest. Such a load balancer selects nothing, and gets an EndpointSlice
// with the machines that have such pods.

func local(service *corev1.Service) bool {
	return service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// spread writes the EndpointSlice of a load balancer that needs one. It reports whether there were others, with all machines: who makes
// those for Services with a selector leaves them behind when that is gone, and may make another one meanwhile.
func (r *Reconciler) spread(ctx context.Context, service, live *corev1.Service) (bool, error) {
	if !local(live) {
		return false, nil
	}
	own, machines := &discoveryv1.EndpointSliceList{}, &corev1.PodList{}
	if err := r.Client.List(ctx, own, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name}); err != nil {
		return false, fmt.Errorf("list endpoints: %w", err)
	}
	if err := r.Cloud.List(ctx, machines, client.InNamespace(r.Namespace), client.MatchingLabels(machinepod.Labels())); err != nil {
		return false, fmt.Errorf("list machines: %w", err)
	}
	slice := sliceOf(live)
	_, err := kit.Ensure(ctx, r.Cloud, slice, func() error {
		slice.Labels = Labels()
		slice.Labels[discoveryv1.LabelServiceName], slice.Labels[discoveryv1.LabelManagedBy] = live.Name, engine.Name
		// It goes with the load balancer.
		slice.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: live.Name, UID: live.UID}}
		slice.AddressType, slice.Ports, slice.Endpoints = discoveryv1.AddressTypeIPv4, portsOf(live), endpoints(own.Items, machines.Items)
		return nil
	})
	if err != nil {
		return false, err
	}
	return r.removeOthers(ctx, slice)
}

// removeOthers deletes the other EndpointSlices of a load balancer, and reports whether there were any.
func (r *Reconciler) removeOthers(ctx context.Context, slice *discoveryv1.EndpointSlice) (bool, error) {
	all := &discoveryv1.EndpointSliceList{}
	if err := r.Cloud.List(ctx, all, client.InNamespace(slice.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: slice.Name}); err != nil {
		return false, fmt.Errorf("list endpoints of load balancer %q: %w", slice.Name, err)
	}
	found := false
	for i := range all.Items {
		if all.Items[i].Name == slice.Name {
			continue
		}
		found = true
		if err := kit.Remove(ctx, r.Cloud, &all.Items[i]); err != nil {
			return found, err
		}
	}
	return found, nil
}

func sliceOf(live *corev1.Service) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name}}
}

func portsOf(live *corev1.Service) []discoveryv1.EndpointPort {
	ports := make([]discoveryv1.EndpointPort, 0, len(live.Spec.Ports))
	for _, port := range live.Spec.Ports {
		ports = append(ports, discoveryv1.EndpointPort{Name: new(port.Name), Protocol: new(port.Protocol), Port: new(port.TargetPort.IntVal)})
	}
	return ports
}

// mostEndpoints is how many an EndpointSlice can have.
const mostEndpoints = 1000

// endpoints are the ready machines with pods of the Service that are ready.
func endpoints(own []discoveryv1.EndpointSlice, machines []corev1.Pod) []discoveryv1.Endpoint {
	nodes := map[string]bool{}
	for i := range own {
		for _, endpoint := range own[i].Endpoints {
			if endpoint.NodeName != nil && ptr.Deref(endpoint.Conditions.Ready, true) {
				nodes[*endpoint.NodeName] = true
			}
		}
	}
	found := []discoveryv1.Endpoint{}
	for i := range machines {
		machine := &machines[i]
		address, err := netip.ParseAddr(machine.Status.PodIP)
		if err != nil || !address.Is4() || !nodes[machine.Name] || !ready(machine) {
			continue
		}
		endpoint := discoveryv1.Endpoint{Addresses: []string{address.String()}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}
		if machine.Spec.NodeName != "" {
			endpoint.NodeName = new(machine.Spec.NodeName)
		}
		found = append(found, endpoint)
	}
	slices.SortFunc(found, func(a, b discoveryv1.Endpoint) int { return strings.Compare(a.Addresses[0], b.Addresses[0]) })
	return found[:min(len(found), mostEndpoints)]
}

func ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// ofSlice is the Service of endpoints, if it matters where these are.
func (r *Reconciler) ofSlice(ctx context.Context, slice client.Object) []reconcile.Request {
	key := client.ObjectKey{Namespace: slice.GetNamespace(), Name: slice.GetLabels()[discoveryv1.LabelServiceName]}
	service := &corev1.Service{}
	if key.Name == "" || r.Client.Get(ctx, key, service) != nil || !Concerned(service) || !local(service) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

// ofMachine are the Services for which it matters which machines are ready.
func (r *Reconciler) ofMachine(ctx context.Context, _ *corev1.Pod) []reconcile.Request {
	services := &corev1.ServiceList{}
	if r.Client.List(ctx, services, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range services.Items {
		if service := &services.Items[i]; Concerned(service) && local(service) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)})
		}
	}
	return requests
}
