// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
)

// shootTimeout bounds a request to a shoot.
const shootTimeout = 30 * time.Second

// Connect returns a client of a garden with the kinds that a Guide uses.
func Connect(garden *rest.Config) (client.Client, error) {
	kinds := runtime.NewScheme()
	err := errors.Join(
		clientgoscheme.AddToScheme(kinds), gardencorev1beta1.AddToScheme(kinds),
		gardenoperationsv1alpha1.AddToScheme(kinds), gardenauthenticationv1alpha1.AddToScheme(kinds),
	)
	if err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	c, err := client.New(garden, client.Options{Scheme: kinds})
	if err != nil {
		return nil, fmt.Errorf("connect to garden: %w", err)
	}
	return c, nil
}

// nodeAddress returns the internal address of a node. An address is taken as it is, without asking the shoot.
func (g *Guide) nodeAddress(ctx context.Context, shoot *gardencorev1beta1.Shoot, node string) (string, error) {
	if address, ok := plainAddress(node); ok {
		return address, nil
	}
	nodes, err := g.nodes(ctx, shoot)
	if err != nil {
		return "", fmt.Errorf("find the nodes of shoot %q: %w; if you know the internal address of a node, give it instead of a name", shoot.Name, err)
	}
	if node == "" {
		if len(nodes) == 0 {
			return "", fmt.Errorf("shoot %q has no nodes", shoot.Name)
		}
		at := max(0, slices.IndexFunc(nodes, ready))
		g.Tell("Going to node %q, the first of %d.\n", nodes[at].Name, len(nodes))
		return internalAddress(&nodes[at])
	}
	var names []string
	for i := range nodes {
		if nodes[i].Name == node {
			return internalAddress(&nodes[i])
		}
		names = append(names, nodes[i].Name)
	}
	return "", fmt.Errorf("shoot %q has no node %q; it has %s", shoot.Name, node, strings.Join(names, ", "))
}

// NodeNames returns the names of the nodes of a shoot. It asks the garden for a kubeconfig of a viewer, and the shoot for its nodes.
func (g *Guide) NodeNames(ctx context.Context, namespace, shoot string) ([]string, error) {
	is := &gardencorev1beta1.Shoot{}
	if err := g.Garden.Get(ctx, client.ObjectKey{Namespace: namespace, Name: shoot}, is); err != nil {
		return nil, fmt.Errorf("get shoot: %w", err)
	}
	nodes, err := g.nodes(ctx, is)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(nodes))
	for i := range nodes {
		names = append(names, nodes[i].Name)
	}
	return names, nil
}

// nodes asks the shoot, as somebody who may only read.
func (g *Guide) nodes(ctx context.Context, shoot *gardencorev1beta1.Shoot) ([]corev1.Node, error) {
	request := &gardenauthenticationv1alpha1.ViewerKubeconfigRequest{}
	request.Spec.ExpirationSeconds = new(int64(600))
	if err := g.Garden.SubResource("viewerkubeconfig").Create(ctx, shoot, request); err != nil {
		return nil, fmt.Errorf("request a kubeconfig: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(request.Status.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.Timeout = shootTimeout
	inShoot, err := client.New(config, client.Options{Scheme: g.Garden.Scheme()})
	if err != nil {
		return nil, err
	}
	list := &corev1.NodeList{}
	if err := inShoot.List(ctx, list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

func ready(node corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func internalAddress(node *corev1.Node) (string, error) {
	for _, a := range node.Status.Addresses {
		if address, ok := plainAddress(a.Address); a.Type == corev1.NodeInternalIP && ok {
			return address, nil
		}
	}
	return "", fmt.Errorf("node %q has no internal address", node.Name)
}

// plainAddress returns an IP address in its usual form, and false if the text is none. An address with a zone counts as none: a zone may be
// any text, also one with line breaks, and a node elsewhere cannot be reached through an interface of this machine.
func plainAddress(text string) (string, bool) {
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return "", false
	}
	return address.String(), true
}
