// SPDX-License-Identifier: Apache-2.0

// Package infrastructure prepares the namespace of a shoot for machines: a network policy that lets them communicate, a Service that gives
// them names in the seed, and an empty hosts file, to which DNS records are added later.
package infrastructure

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// Actor prepares namespaces of shoots for machines.
type Actor struct{ engine.Access }

// Reconcile creates the objects and reports the network of the nodes. Machines are pods of the seed, so this is the pod network of the seed.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Infrastructure, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	if err := a.Seed.Apply(ctx, Render(object.Namespace)...); err != nil {
		return fmt.Errorf("prepare namespace for machines: %w", err)
	}
	hosts := dnsrecord.ConfigMap(object.Namespace, dnsrecord.Hosts(nil))
	if err := a.Seed.Client.Create(ctx, hosts); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("prepare hosts file: %w", err)
	}
	object.Status.Networking = nil
	if cluster.Seed != nil && cluster.Seed.Spec.Networks.Pods != "" {
		object.Status.Networking = &gardenextensionsv1alpha1.InfrastructureStatusNetworking{Nodes: []string{cluster.Seed.Spec.Networks.Pods}}
	}
	return nil
}

// Delete removes the objects.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Infrastructure, _ *engine.Cluster) error {
	objects := append(Render(object.Namespace), dnsrecord.ConfigMap(object.Namespace, ""))
	return a.Seed.Delete(ctx, objects...)
}

// Render returns what machines need in the namespace of their shoot. The namespace denies all traffic that no network policy allows;
// machines talk to each other, to the API server of the shoot, and to everything that their pods talk to, and what reaches the networks
// of the shoot reaches them.
func Render(namespace string) []client.Object {
	selector := map[string]string{machinepod.LabelApp: machinepod.App}
	return []client.Object{
		&networkingv1.NetworkPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "allow-machines"},
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: selector},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
				Ingress:     []networkingv1.NetworkPolicyIngressRule{{}},
				Egress:      []networkingv1.NetworkPolicyEgressRule{{}},
			},
		},
		// The nodes of the shoot are these pods.
		&networkingv1.NetworkPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "allow-to-machines"},
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
