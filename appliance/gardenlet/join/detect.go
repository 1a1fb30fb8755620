// SPDX-License-Identifier: Apache-2.0

package join

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Facts are what was detected in a cluster. Fields that could not be detected are empty.
type Facts struct {
	Pods, Services, Nodes string
	Region                string
	Zones                 []string
}

// Detect finds the networks, the region and the zones of a cluster. It tries several sources, and takes each fact from the
// first one that has it.
func Detect(ctx context.Context, seed client.Client) (Facts, error) {
	var facts Facts
	for _, ask := range []func(context.Context, client.Client) (Facts, error){
		fromShootInfo, fromKubeadm, fromServiceCIDR, fromControllerManager, fromNodes,
	} {
		found, err := ask(ctx, seed)
		if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return Facts{}, fmt.Errorf("detect the networks of the cluster: %w", err)
		}
		facts = facts.or(found)
	}
	return facts, nil
}

func (f Facts) or(other Facts) Facts {
	either := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	f.Pods, f.Services, f.Nodes = either(f.Pods, other.Pods), either(f.Services, other.Services), either(f.Nodes, other.Nodes)
	f.Region = either(f.Region, other.Region)
	if len(f.Zones) == 0 {
		f.Zones = other.Zones
	}
	return f
}

// fromShootInfo reads the ConfigMap that Gardener writes into shoots.
func fromShootInfo(ctx context.Context, seed client.Client) (Facts, error) {
	info := &corev1.ConfigMap{}
	err := seed.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapShootInfo}, info)
	nodes := cmp.Or(info.Data["nodeNetwork"], onlyNetwork(info.Data["nodeNetworks"]))
	return Facts{Pods: info.Data["podNetwork"], Services: info.Data["serviceNetwork"], Nodes: nodes, Region: info.Data["region"]}, err
}

// onlyNetwork returns the network of a list that has one: a seed has one range of nodes, and none is right where there are several.
func onlyNetwork(networks string) string {
	if strings.Contains(networks, ",") {
		return ""
	}
	return networks
}

// fromKubeadm reads the configuration that kubeadm leaves in the cluster. It ignores what it cannot parse.
func fromKubeadm(ctx context.Context, seed client.Client) (Facts, error) {
	stored := &corev1.ConfigMap{}
	if err := seed.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, stored); err != nil {
		return Facts{}, err
	}
	var config struct {
		Networking struct {
			PodSubnet     string `json:"podSubnet"`
			ServiceSubnet string `json:"serviceSubnet"`
		} `json:"networking"`
	}
	if err := yaml.Unmarshal([]byte(stored.Data["ClusterConfiguration"]), &config); err != nil {
		return Facts{}, nil //nolint:nilerr // what cannot be read tells nothing
	}
	return Facts{Pods: firstNetwork(config.Networking.PodSubnet), Services: firstNetwork(config.Networking.ServiceSubnet)}, nil
}

// fromServiceCIDR reads the ServiceCIDR that API servers maintain for their service network.
func fromServiceCIDR(ctx context.Context, seed client.Client) (Facts, error) {
	network := &networkingv1.ServiceCIDR{}
	err := seed.Get(ctx, client.ObjectKey{Name: "kubernetes"}, network)
	return Facts{Services: firstNetwork(strings.Join(network.Spec.CIDRs, ","))}, err
}

// fromControllerManager reads the flags of a controller manager that runs as a pod.
func fromControllerManager(ctx context.Context, seed client.Client) (Facts, error) {
	pods := &corev1.PodList{}
	if err := seed.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "kube-controller-manager"}); err != nil {
		return Facts{}, err
	}
	var facts Facts
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			for _, word := range slices.Concat(container.Command, container.Args) {
				if value, ok := strings.CutPrefix(word, "--cluster-cidr="); ok {
					facts.Pods = firstNetwork(value)
				}
				if value, ok := strings.CutPrefix(word, "--service-cluster-ip-range="); ok {
					facts.Services = firstNetwork(value)
				}
			}
		}
	}
	return facts, nil
}

// fromNodes reads region and zones of the nodes. If the nodes are in several regions, the region stays empty.
func fromNodes(ctx context.Context, seed client.Client) (Facts, error) {
	nodes := &corev1.NodeList{}
	if err := seed.List(ctx, nodes); err != nil {
		return Facts{}, err
	}
	regions, zones := map[string]bool{}, map[string]bool{}
	for _, node := range nodes.Items {
		if region := node.Labels[corev1.LabelTopologyRegion]; region != "" {
			regions[region] = true
		}
		if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" {
			zones[zone] = true
		}
	}
	facts := Facts{Zones: slices.Sorted(maps.Keys(zones))}
	if len(regions) == 1 {
		facts.Region = slices.Collect(maps.Keys(regions))[0]
	}
	return facts, nil
}

// firstNetwork returns the first network of a dual-stack list.
func firstNetwork(networks string) string {
	network, _, _ := strings.Cut(networks, ",")
	return strings.TrimSpace(network)
}
