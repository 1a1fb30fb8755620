// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Actor keeps the network agent in each shoot.
type Actor struct {
	// Shoots reaches the shoots.
	Shoots engine.Shoots
	// Image holds the network agent.
	Image string
}

// Reconcile applies the agent in the shoot. It does not wait for the pods: there may be no machines yet.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	if err := check(object, cluster); err != nil {
		return engine.ConfigurationProblem(err)
	}
	if err := a.Shoots.Apply(ctx, object.Namespace, Render(Values{Image: a.Image, PodNetwork: object.Spec.PodCIDR})...); err != nil {
		return fmt.Errorf("network agent: %w", err)
	}
	object.Status.IPFamilies = []gardenextensionsv1alpha1.IPFamily{gardenextensionsv1alpha1.IPFamilyIPv4}
	return nil
}

// Delete removes the agent from the shoot.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	if err := a.Shoots.Remove(ctx, object.Namespace, cluster, Render(Values{})...); err != nil {
		return fmt.Errorf("network agent: %w", err)
	}
	return nil
}

// Migrate leaves the agent in the shoot.
func (a *Actor) Migrate(context.Context, *gardenextensionsv1alpha1.Network, *engine.Cluster) error {
	return nil
}

// check refuses what the agent cannot do: serve IPv6, and route Services in place of kube-proxy.
func check(object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	for _, family := range object.Spec.IPFamilies {
		if family != gardenextensionsv1alpha1.IPFamilyIPv4 {
			return fmt.Errorf("the local network serves IPv4 only, not %s", family)
		}
	}
	network, err := netip.ParsePrefix(object.Spec.PodCIDR)
	if err != nil || !network.Addr().Is4() {
		return fmt.Errorf("the pod network %q is no IPv4 network", object.Spec.PodCIDR)
	}
	proxy := cluster.Shoot.Spec.Kubernetes.KubeProxy
	if proxy != nil && proxy.Enabled != nil && !*proxy.Enabled {
		return errors.New("the local network needs kube-proxy, which the shoot has disabled")
	}
	return nil
}
