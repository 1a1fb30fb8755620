// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	shootInfoName = "shoot-info"
	// sampleSize limits how many objects of a kind are read.
	sampleSize = 100
)

// ErrNetworks says that the networks of the cluster differ from the configured ones.
var ErrNetworks = errors.New("configured networks of the seed differ from those of the cluster")

// Networks are the ranges of a seed in CIDR notation. Nodes may be empty.
type Networks struct {
	Nodes, Pods, Services string
}

// CheckNetworks compares the configured networks with those of the cluster (GLET-BOOT-8): with the exact networks if the cluster
// is a shoot, else with the addresses of a sample of nodes, pods and services. It skips kinds that the cluster does not serve.
func CheckNetworks(ctx context.Context, seed client.Client, configured Networks) error {
	info := &corev1.ConfigMap{}
	err := seed.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: shootInfoName}, info)
	switch {
	case err == nil:
		return CompareShootInfo(info.Data, configured)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get ConfigMap %q: %w", metav1.NamespaceSystem+"/"+shootInfoName, err)
	}
	found, err := sample(ctx, seed)
	if err != nil {
		return err
	}
	return CompareAddresses(found, configured)
}

// CompareShootInfo compares the configured networks with the data of the ConfigMap shoot-info.
func CompareShootInfo(data map[string]string, configured Networks) error {
	for _, one := range []struct {
		network, key, configured string
		optional                 bool
	}{
		{network: "pods", key: "podNetwork", configured: configured.Pods},
		{network: "services", key: "serviceNetwork", configured: configured.Services},
		{network: "nodes", key: "nodeNetwork", configured: configured.Nodes, optional: true},
	} {
		actual, ok := data[one.key]
		if !ok && one.optional {
			continue
		}
		if actual != one.configured {
			return fmt.Errorf("%w: spec.networks.%s is %q, but the cluster is a shoot with %q", ErrNetworks, one.network, one.configured, actual)
		}
	}
	return nil
}

// Addresses maps addresses in use in a cluster to the object that uses them.
type Addresses struct {
	Nodes, Pods, Services map[string]string
}

// CompareAddresses returns an error that names the first address outside of its configured range. It skips addresses of
// another family than the range.
func CompareAddresses(found Addresses, configured Networks) error {
	for _, one := range []struct {
		network, configured string
		addresses           map[string]string
	}{
		{network: "nodes", configured: configured.Nodes, addresses: found.Nodes},
		{network: "pods", configured: configured.Pods, addresses: found.Pods},
		{network: "services", configured: configured.Services, addresses: found.Services},
	} {
		if one.configured == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(one.configured)
		if err != nil {
			return fmt.Errorf("spec.networks.%s: %w", one.network, err)
		}
		for text, user := range one.addresses {
			address, err := netip.ParseAddr(text)
			if err != nil || address.Is4() != prefix.Addr().Is4() || prefix.Contains(address) {
				continue
			}
			return fmt.Errorf("%w: spec.networks.%s is %q, but %s has the address %q", ErrNetworks, one.network, one.configured, user, text)
		}
	}
	return nil
}

func sample(ctx context.Context, seed client.Client) (Addresses, error) {
	found := Addresses{Nodes: map[string]string{}, Pods: map[string]string{}, Services: map[string]string{}}
	nodes, pods, services := &corev1.NodeList{}, &corev1.PodList{}, &corev1.ServiceList{}
	for _, list := range []client.ObjectList{nodes, pods, services} {
		err := seed.List(ctx, list, client.Limit(sampleSize))
		if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return Addresses{}, fmt.Errorf("list %T: %w", list, err)
		}
	}
	for _, node := range nodes.Items {
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				found.Nodes[address.Address] = "node " + node.Name
			}
		}
	}
	for _, pod := range pods.Items {
		if !ordinary(&pod) {
			continue
		}
		for _, ip := range pod.Status.PodIPs {
			found.Pods[ip.IP] = "pod " + pod.Namespace + "/" + pod.Name
		}
	}
	for _, service := range services.Items {
		if service.Spec.Type == corev1.ServiceTypeExternalName {
			continue
		}
		for _, ip := range service.Spec.ClusterIPs {
			if ip != corev1.ClusterIPNone {
				found.Services[ip] = "service " + service.Namespace + "/" + service.Name
			}
		}
	}
	return found, nil
}

// ordinary reports whether a pod has addresses of the cluster's pod network. Pods in the host's network and pods with an address
// pool of their own do not.
func ordinary(pod *corev1.Pod) bool {
	if pod.Spec.HostNetwork || pod.DeletionTimestamp != nil {
		return false
	}
	for _, pool := range []string{"cni.projectcalico.org/ipv4pools", "cni.projectcalico.org/ipv6pools"} {
		if _, ok := pod.Annotations[pool]; ok {
			return false
		}
	}
	return true
}
