// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

const (
	// LabelShoot is on the namespaces of other clusters that hold machines, with the UID of their shoot.
	LabelShoot = "local.provider.extensions.gardener.cloud/shoot-uid"

	// labelPodSecurity lets machines be privileged where pods may not be.
	labelPodSecurity = "pod-security.kubernetes.io/enforce"

	recheck = 2 * time.Second

	// maxNetworks is how many networks of nodes a shoot can have: they are written into the status of the shoot, and into many objects.
	maxNetworks = 256
)

// ErrForeign says that a namespace of the other cluster belongs to somebody else.
var ErrForeign = errors.New("the namespace belongs to somebody else")

// Cloud is where the machines of a shoot run.
type Cloud struct {
	client.Client

	// Namespace holds the machines.
	Namespace string
	// Place is the UID of the cluster, if it is not the seed.
	Place string

	// shoot is the UID of the shoot.
	shoot string
	// refused are networks that the pods of the cluster cannot have.
	refused []netip.Prefix
}

// Find returns where the machines of the shoot with that control-plane namespace run.
type Find func(ctx context.Context, namespace string) (Cloud, error)

// InSeed finds all machines in the seed.
func InSeed(seed client.Client) Find {
	return func(_ context.Context, namespace string) (Cloud, error) {
		return Cloud{Client: seed, Namespace: namespace}, nil
	}
}

// Apart reports whether the machines run in another cluster than the seed.
func (c Cloud) Apart() bool { return c.Place != "" }

// Engine applies and deletes objects there.
func (c Cloud) Engine(clk clock.Clock) deploy.Engine {
	return deploy.Engine{Client: c.Client, Owner: engine.Name, Clock: clk}
}

// Claim makes the namespace in another cluster. Only the first of two who want it gets it. In the seed there is nothing to claim.
func (c Cloud) Claim(ctx context.Context) error {
	if !c.Apart() {
		return nil
	}
	if c.shoot == "" {
		return errors.New("the Cluster object does not say which UID the shoot has")
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: c.Namespace, Labels: map[string]string{LabelShoot: c.shoot, labelPodSecurity: "privileged"},
	}}
	err := c.Create(ctx, namespace)
	if err == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %q for machines: %w", c.Namespace, err)
	}
	live, err := c.namespace(ctx)
	if err != nil {
		return err
	}
	if live == nil || live.DeletionTimestamp != nil {
		return kit.Wait(recheck, "Waiting until the former namespace of the machines is gone")
	}
	return nil
}

// Release deletes the namespace in another cluster and all that is in it. It reports whether it is gone. One of somebody else stays.
func (c Cloud) Release(ctx context.Context) (bool, error) {
	live, err := c.namespace(ctx)
	if errors.Is(err, ErrForeign) {
		return true, nil
	}
	if err != nil || live == nil {
		return err == nil, err
	}
	if live.DeletionTimestamp != nil {
		return false, nil
	}
	// Another one of that name may have been made in the meantime.
	err = c.Delete(ctx, live, client.Preconditions{UID: &live.UID})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return false, fmt.Errorf("delete namespace %q of the machines: %w", c.Namespace, err)
	}
	return false, nil
}

// Exists reports whether there is a namespace for the machines.
func (c Cloud) Exists(ctx context.Context) (bool, error) {
	if !c.Apart() {
		return true, nil
	}
	live, err := c.namespace(ctx)
	return live != nil && live.DeletionTimestamp == nil, err
}

// namespace is nil if there is none.
func (c Cloud) namespace(ctx context.Context) (*corev1.Namespace, error) {
	live := &corev1.Namespace{}
	err := c.Get(ctx, client.ObjectKey{Name: c.Namespace}, live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // nil says that there is none
	case err != nil:
		return nil, fmt.Errorf("look at namespace %q of the machines: %w", c.Namespace, err)
	case c.shoot == "" || live.Labels[LabelShoot] != c.shoot:
		return nil, engine.ConfigurationProblem(fmt.Errorf(
			"namespace %q of the other cluster has no label %s=%s: %w; use another cluster", c.Namespace, LabelShoot, c.shoot, ErrForeign))
	default:
		return live, nil
	}
}

// Networks are those of the pods of another cluster, which machines are among (EXT-INFRA-1).
func (c Cloud) Networks(ctx context.Context) ([]string, error) {
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return nil, fmt.Errorf("list the nodes of the cluster of the machines: %w", err)
	}
	var found []netip.Prefix
	for i := range nodes.Items {
		network, err := netip.ParsePrefix(nodes.Items[i].Spec.PodCIDR)
		if err != nil || !network.Addr().Is4() {
			continue
		}
		for _, other := range c.refused {
			if network.Overlaps(other) {
				return nil, engine.ConfigurationProblem(fmt.Errorf(
					"the pods of the cluster of the machines have the network %s, which overlaps with %s of the seed or the shoot; use a cluster with other networks", network, other))
			}
		}
		found = append(found, network.Masked())
	}
	if len(found) == 0 {
		return nil, engine.ConfigurationProblem(errors.New("no node of the cluster of the machines has an IPv4 network for pods in spec.podCIDR; use a cluster that gives its nodes one"))
	}
	slices.SortFunc(found, netip.Prefix.Compare)
	if found = slices.Compact(found); len(found) > maxNetworks {
		return nil, engine.ConfigurationProblem(fmt.Errorf("the pods of the cluster of the machines have %d networks, one for each node; use a cluster with at most %d", len(found), maxNetworks))
	}
	var texts []string
	for _, network := range found {
		texts = append(texts, network.String())
	}
	return texts, nil
}
