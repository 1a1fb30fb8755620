// SPDX-License-Identifier: Apache-2.0

// Package infrastructure prepares a namespace for the machines of a shoot, in the seed or in another cluster: a network policy that lets
// them communicate, a Service that gives them names there, an empty hosts file, to which DNS records are added later, and a claim for the
// volumes of the shoot.
package infrastructure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/bastion"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/jumphost"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// Actor prepares namespaces of shoots for machines.
type Actor struct {
	engine.Access

	// Cloud returns where the machines of a shoot run.
	Cloud cloud.Find
}

// Reconcile creates the objects and reports the network of the nodes. Machines are pods, so this is the pod network of their cluster. Where
// that is, is written down before anything is made, so that nothing stays behind if the process ends in between.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Infrastructure, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	if err := cluster.Unconfigured(object.Spec.ProviderConfig, "spec.provider.infrastructureConfig"); err != nil {
		return err // Before anything is asked of the cloud (EXT-STAT-5).
	}
	in, err := a.Cloud(ctx, object.Namespace)
	if err != nil {
		return fmt.Errorf("find the cloud of the machines: %w", err)
	}
	nodes, err := networks(ctx, in, cluster)
	if err != nil {
		return err
	}
	_, known, err := cloud.Recorded(object)
	if err != nil {
		return err
	}
	if err := cloud.Record(object, in); err != nil {
		return err
	}
	if in.Apart() && !known {
		return kit.Wait(recorded, "Writing down where the machines will be")
	}
	if err := in.Claim(ctx); err != nil {
		if errors.Is(err, cloud.ErrForeign) && object.Status.Networking == nil {
			// Somebody was faster. Nothing is there yet, so the shoot may have another cluster.
			object.Status.ProviderStatus = nil
		}
		return err
	}
	if err := in.Engine(a.Seed.Clock).Apply(ctx, render(in)...); err != nil {
		return fmt.Errorf("prepare namespace for machines: %w", err)
	}
	hosts := dnsrecord.ConfigMap(in.Namespace, dnsrecord.Hosts(nil))
	if err := in.Create(ctx, hosts); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("prepare hosts file: %w", err)
	}
	if err := volumes.Ensure(ctx, in, a.Seed.Clock.Now()); err != nil {
		return err
	}
	object.Status.Networking = nil
	if len(nodes) > 0 {
		object.Status.Networking = &gardenextensionsv1alpha1.InfrastructureStatusNetworking{Nodes: nodes}
	}
	return nil
}

// networks are those of the nodes of the shoot.
func networks(ctx context.Context, in cloud.Cloud, cluster *engine.Cluster) ([]string, error) {
	if in.Apart() {
		return in.Networks(ctx)
	}
	if cluster.Seed == nil || cluster.Seed.Spec.Networks.Pods == "" {
		return nil, nil
	}
	return []string{cluster.Seed.Spec.Networks.Pods}, nil
}

// Delete removes the objects; in another cluster, the namespace with all that is in it. When the shoot is deleted by force, it stays in a
// cluster that cannot be asked.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Infrastructure, cluster *engine.Cluster) error {
	in, err := a.Cloud(ctx, object.Namespace)
	if errors.Is(err, cloud.ErrForeign) || (err != nil && cluster.ForceDeleted()) {
		return nil
	}
	if err != nil {
		return cloud.Unsolvable(fmt.Errorf("find the cloud of the machines: %w", err), cluster)
	}
	if !in.Apart() {
		return in.Engine(a.Seed.Clock).Delete(ctx, append(render(in), dnsrecord.ConfigMap(in.Namespace, ""), volumes.Claim(in.Namespace, ""))...)
	}
	gone, err := in.Release(ctx)
	if err == nil && !gone {
		return kit.Wait(recheck, "Waiting until the namespace of the machines is gone")
	}
	if cluster.ForceDeleted() {
		return nil
	}
	return cloud.Unsolvable(in.Trouble(err), cluster)
}

const (
	// recheck is the time between two looks at a namespace that ends.
	recheck = 2 * time.Second
	// recorded is the time until the place that has just been written down is used.
	recorded = 100 * time.Millisecond
)

// render leaves the policy for the control plane to the seed: it is nowhere else.
func render(in cloud.Cloud) []client.Object {
	objects := Render(in.Namespace)
	if in.Apart() {
		objects = slices.DeleteFunc(objects, func(o client.Object) bool { return o.GetName() == policyToMachines })
	}
	return objects
}

const (
	policyToMachines = "allow-to-machines"

	firstNodePort = 30000
	lastNodePort  = 32767
)

// Render returns what machines need in their namespace. The one of a control plane denies all traffic that no network policy allows;
// machines talk to each other, to the API server of the shoot, and to everything that their pods talk to.
func Render(namespace string) []client.Object {
	selector := machinepod.Labels()
	return []client.Object{
		&networkingv1.NetworkPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "allow-machines"},
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: selector},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
				Ingress:     entrances(),
				Egress:      []networkingv1.NetworkPolicyEgressRule{{}},
			},
		},
		// The nodes of the shoot are these pods.
		&networkingv1.NetworkPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: policyToMachines},
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: reach.Allowed(gardencorev1beta1.LabelNetworkPolicyToShootNetworks)},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
				Egress: []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{
					{PodSelector: &metav1.LabelSelector{MatchLabels: selector}},
				}}},
			},
		},
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "machines"},
			Spec: corev1.ServiceSpec{
				ClusterIP:                corev1.ClusterIPNone,
				Selector:                 selector,
				PublishNotReadyAddresses: true,
			},
		},
	}
}

// entrances are the ways into machines. Other machines of the shoot, and what reaches its networks, come in everywhere, bastions to the
// port for SSH, and everybody else, such as the clients of a load balancer, to the node ports. Their range is that of an API server whose
// flags leave it open.
func entrances() []networkingv1.NetworkPolicyIngressRule {
	from := func(selector metav1.LabelSelector) networkingv1.NetworkPolicyPeer {
		return networkingv1.NetworkPolicyPeer{PodSelector: &selector}
	}
	ssh := networkingv1.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(jumphost.Port))}
	var nodePorts []networkingv1.NetworkPolicyPort
	for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP} {
		nodePorts = append(nodePorts, networkingv1.NetworkPolicyPort{
			Protocol: new(protocol), Port: new(intstr.FromInt32(firstNodePort)), EndPort: new(int32(lastNodePort)),
		})
	}
	return []networkingv1.NetworkPolicyIngressRule{
		{From: []networkingv1.NetworkPolicyPeer{
			from(metav1.LabelSelector{MatchLabels: machinepod.Labels()}),
			from(metav1.LabelSelector{MatchLabels: reach.Allowed(gardencorev1beta1.LabelNetworkPolicyToShootNetworks)}),
		}},
		{
			From: []networkingv1.NetworkPolicyPeer{from(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: bastion.LabelBastion, Operator: metav1.LabelSelectorOpExists},
			}})},
			Ports: []networkingv1.NetworkPolicyPort{ssh},
		},
		{Ports: nodePorts},
	}
}
