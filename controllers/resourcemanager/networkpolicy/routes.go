// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// Controller are the pods of an ingress controller.
type Controller struct {
	// Namespace and Pods select the pods; there is no controller without both.
	Namespace string
	Pods      map[string]string
}

func (c Controller) exists() bool { return c.Namespace != "" && len(c.Pods) > 0 }

// backend is a port of a Service that an Ingress or a VirtualService leads to. Without a name and a number it stands for all ports.
type backend struct {
	service client.ObjectKey
	port    networkingv1.ServiceBackendPort
}

// has reports whether a port of the Service is meant.
func (b backend) has(port *corev1.ServicePort) bool {
	return b.port == (networkingv1.ServiceBackendPort{}) || b.port.Name != "" && b.port.Name == port.Name || b.port.Number != 0 && b.port.Number == port.Port
}

// backendsOf lists where an Ingress or a VirtualService leads to.
func backendsOf(object client.Object) []backend {
	switch o := object.(type) {
	case *networkingv1.Ingress:
		return ingressBackends(o)
	case *unstructured.Unstructured:
		return virtualServiceBackends(o)
	default:
		return nil
	}
}

func ingressBackends(ingress *networkingv1.Ingress) []backend {
	var found []backend
	add := func(to *networkingv1.IngressBackend) {
		if to != nil && to.Service != nil {
			found = append(found, backend{client.ObjectKey{Namespace: ingress.Namespace, Name: to.Service.Name}, to.Service.Port})
		}
	}
	add(ingress.Spec.DefaultBackend)
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for i := range rule.HTTP.Paths {
			add(&rule.HTTP.Paths[i].Backend)
		}
	}
	return found
}

// VirtualServiceKind is the kind of the routes of Istio. Clusters without Istio do not have it.
func VirtualServiceKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1beta1", Kind: "VirtualService"}
}

func virtualServiceBackends(object *unstructured.Unstructured) []backend {
	var found []backend
	for _, protocol := range []string{"http", "tls", "tcp"} {
		routes, _, err := unstructured.NestedSlice(object.Object, "spec", protocol)
		if err != nil {
			continue
		}
		for _, entry := range routes {
			entry, _ := entry.(map[string]any)
			destinations, _, err := unstructured.NestedSlice(entry, "route")
			if err != nil {
				continue
			}
			for _, to := range destinations {
				to, _ := to.(map[string]any)
				if b, ok := destination(to, object.GetNamespace()); ok {
					found = append(found, b)
				}
			}
		}
	}
	return found
}

// destination reads the host of a route: the name of a Service, which may be followed by its namespace and by the domain of the cluster.
func destination(route map[string]any, namespace string) (backend, bool) {
	host, _, err := unstructured.NestedString(route, "destination", "host")
	if err != nil || host == "" {
		return backend{}, false
	}
	parts := strings.Split(host, ".")
	if len(parts) > 1 {
		namespace = parts[1]
	}
	if len(parts) > 2 && parts[2] != "svc" {
		return backend{}, false
	}
	number, _, err := unstructured.NestedInt64(route, "destination", "port", "number")
	if err != nil || number < 0 || number > 1<<16-1 {
		return backend{}, false
	}
	return backend{client.ObjectKey{Namespace: namespace, Name: parts[0]}, networkingv1.ServiceBackendPort{Number: int32(number)}}, true
}

// routed lists the ports of the pods of a Service that the ingress controller has to reach.
func (r *Reconciler) routed(ctx context.Context, service *corev1.Service) ([]reach.Port, error) {
	if !r.Ingress.exists() {
		return nil, nil
	}
	backends, err := r.backends(ctx, service.Namespace)
	if err != nil {
		return nil, err
	}
	var found []reach.Port
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		meant := func(b backend) bool { return b.service == client.ObjectKeyFromObject(service) && b.has(port) }
		if to := target(port); slices.ContainsFunc(backends, meant) && !slices.Contains(found, to) {
			found = append(found, to)
		}
	}
	return found, nil
}

// backends lists where the Ingresses of a namespace and all VirtualServices lead to.
func (r *Reconciler) backends(ctx context.Context, namespace string) ([]backend, error) {
	ingresses := &networkingv1.IngressList{}
	if err := r.Client.List(ctx, ingresses, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list Ingresses: %w", err)
	}
	var found []backend
	for i := range ingresses.Items {
		found = append(found, backendsOf(&ingresses.Items[i])...)
	}
	if !r.istio {
		return found, nil
	}
	routes := &unstructured.UnstructuredList{}
	routes.SetGroupVersionKind(VirtualServiceKind())
	if err := r.Client.List(ctx, routes); err != nil {
		return nil, fmt.Errorf("list VirtualServices: %w", err)
	}
	for i := range routes.Items {
		found = append(found, backendsOf(&routes.Items[i])...)
	}
	return found, nil
}
