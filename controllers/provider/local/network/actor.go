// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Actor keeps the network agent in each shoot.
type Actor struct {
	// ShootClient returns a client of the shoot with that control-plane namespace.
	ShootClient func(ctx context.Context, namespace string) (client.Client, error)
	// Owner is the field owner of what is applied.
	Owner string
	// Clock drives waiting.
	Clock clock.Clock
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
	shoot, err := a.shoot(ctx, object.Namespace)
	if err != nil {
		return err
	}
	if err := shoot.Apply(ctx, Render(Values{Image: a.Image, PodNetwork: object.Spec.PodCIDR})...); err != nil {
		return fmt.Errorf("deploy network agent into the shoot: %w", err)
	}
	object.Status.IPFamilies = []gardenextensionsv1alpha1.IPFamily{gardenextensionsv1alpha1.IPFamilyIPv4}
	return nil
}

// Delete removes the agent from the shoot. In a forced deletion the shoot may not answer any more, and need not.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	shoot, err := a.shoot(ctx, object.Namespace)
	if apierrors.IsNotFound(err) {
		return nil // Without access to the shoot there is no shoot.
	}
	if err == nil {
		err = shoot.Delete(ctx, Render(Values{})...)
	}
	if err != nil && !cluster.ForceDeleted() {
		return fmt.Errorf("remove network agent from the shoot: %w", err)
	}
	return nil
}

// Migrate leaves the agent in the shoot.
func (a *Actor) Migrate(context.Context, *gardenextensionsv1alpha1.Network, *engine.Cluster) error {
	return nil
}

func (a *Actor) shoot(ctx context.Context, namespace string) (deploy.Engine, error) {
	shootClient, err := a.ShootClient(ctx, namespace)
	if err != nil {
		return deploy.Engine{}, err
	}
	return deploy.Engine{Client: shootClient, Owner: a.Owner, Clock: a.Clock}, nil
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
