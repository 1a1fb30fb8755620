// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Machine manages the addresses of the machine.
type Machine struct {
	Add       func(netip.Addr) error
	Remove    func(netip.Addr) error
	Addresses func(within netip.Prefix) ([]netip.Addr, error)
}

// Reconciler assigns addresses of the machine to Services. Its methods must not be called concurrently.
type Reconciler struct {
	Client   kubernetes.Interface
	Services corelisters.ServiceLister
	Pool     netip.Prefix
	Machine  Machine
	// Event records an event of a Service.
	Event func(service *corev1.Service, kind, reason, message string)

	held Assignment
}

// Reconcile processes all Services.
func (r *Reconciler) Reconcile(ctx context.Context) error {
	services, err := r.Services.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list Services: %w", err)
	}
	r.held = Assign(r.Pool, r.held, services)
	failed := []error{r.syncMachine()}
	for _, service := range services {
		failed = append(failed, r.syncStatus(ctx, service))
	}
	return errors.Join(failed...)
}

// syncMachine adds the assigned addresses to the machine, and removes all other addresses of the pool.
func (r *Reconciler) syncMachine() error {
	present, err := r.Machine.Addresses(r.Pool)
	if err != nil {
		return err
	}
	surplus := map[netip.Addr]bool{}
	for _, address := range present {
		surplus[address] = true
	}
	var failed []error
	for _, address := range r.held {
		if !surplus[address] {
			failed = append(failed, r.Machine.Add(address))
		}
		delete(surplus, address)
	}
	for address := range surplus {
		failed = append(failed, r.Machine.Remove(address))
	}
	return errors.Join(failed...)
}

// syncStatus writes the address into the status, and removes it from a Service that is no longer a load balancer.
func (r *Reconciler) syncStatus(ctx context.Context, service *corev1.Service) error {
	address, assigned := r.held[service.UID]
	var wanted []corev1.LoadBalancerIngress
	switch {
	case assigned:
		wanted = []corev1.LoadBalancerIngress{{IP: address.String(), IPMode: new(corev1.LoadBalancerIPModeVIP)}}
	case Concerned(service):
		r.Event(service, corev1.EventTypeWarning, "NoAddress", fmt.Sprintf("No address of %s is free", r.Pool))
	case service.Spec.Type == corev1.ServiceTypeLoadBalancer || !r.Pool.Contains(current(service)):
		return nil // being deleted, of another class, or without an address of the pool
	default:
	}
	if sameIngress(service.Status.LoadBalancer.Ingress, wanted) {
		return nil
	}
	updated := service.DeepCopy()
	updated.Status.LoadBalancer.Ingress = wanted
	_, err := r.Client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil // its deletion event follows
	}
	if err != nil {
		return fmt.Errorf("write address %q into Service %q: %w", address, service.Namespace+"/"+service.Name, err)
	}
	return nil
}

func sameIngress(have, wanted []corev1.LoadBalancerIngress) bool {
	if len(have) != len(wanted) {
		return false
	}
	for i := range have {
		if have[i].IP != wanted[i].IP {
			return false
		}
	}
	return true
}
