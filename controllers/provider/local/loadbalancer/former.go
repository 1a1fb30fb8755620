// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ForgetFormer takes the addresses of load balancers that are gone out of the status of Services. While a shoot sleeps, others may get these
// addresses, so nobody is to be led there when it has woken up. Call it before the controller starts, and before anybody is told that it
// runs.
func (r *Reconciler) ForgetFormer(ctx context.Context) error {
	services, made := &corev1.ServiceList{}, &corev1.ServiceList{}
	if err := r.Reader.List(ctx, services); err != nil {
		return fmt.Errorf("list Services of the shoot: %w", err)
	}
	if err := r.Cloud.List(ctx, made, client.InNamespace(r.Namespace), client.MatchingLabels(Labels())); err != nil {
		return fmt.Errorf("list load balancers: %w", err)
	}
	there := map[string]bool{}
	for i := range made.Items {
		there[made.Items[i].Name] = true
	}
	for i := range services.Items {
		service := &services.Items[i]
		if !Concerned(service) || there[Name(client.ObjectKeyFromObject(service))] {
			continue
		}
		if err := r.report(ctx, service, nil); err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes the load balancers of a shoot in the namespace of its machines, and reports whether none is left. Nobody must be making
// any at that time. The reader has no cache.
func Remove(ctx context.Context, reader client.Reader, writer client.Writer, namespace string) (bool, error) {
	made := &corev1.ServiceList{}
	if err := reader.List(ctx, made, client.InNamespace(namespace), client.MatchingLabels(Labels())); err != nil {
		return false, fmt.Errorf("list load balancers: %w", err)
	}
	for i := range made.Items {
		if err := remove(ctx, writer, &made.Items[i]); err != nil {
			return false, err
		}
	}
	return len(made.Items) == 0, nil
}

// remove deletes a load balancer, but not another one that has its name by now.
func remove(ctx context.Context, c client.Writer, live *corev1.Service) error {
	if live.DeletionTimestamp != nil {
		return nil
	}
	err := c.Delete(ctx, live, client.Preconditions{UID: &live.UID})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete load balancer %q: %w", live.Name, err)
	}
	return nil
}
