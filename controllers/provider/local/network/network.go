// SPDX-License-Identifier: Apache-2.0

// Package network deploys the pod network of local shoots: the network agent on every node of the shoot.
package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Actor deploys the network agent in each shoot.
type Actor struct{ engine.Access }

// Reconcile applies the agent in the shoot. It does not wait for the pods: there may be no machines yet.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	if err := cluster.Unconfigured(object.Spec.ProviderConfig, "spec.networking.providerConfig"); err != nil {
		return err
	}
	if err := check(object, cluster); err != nil {
		return engine.ConfigurationProblem(err)
	}
	if err := a.ApplyInShoot(ctx, object.Namespace, setName, Render(a.Images.NetworkAgent, object.Spec.PodCIDR)...); err != nil {
		return fmt.Errorf("network agent: %w", err)
	}
	object.Status.IPFamilies = []gardenextensionsv1alpha1.IPFamily{gardenextensionsv1alpha1.IPFamilyIPv4}
	return nil
}

// Delete removes the agent from the shoot.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	if err := a.RemoveFromShoot(ctx, object.Namespace, setName, cluster); err != nil {
		return fmt.Errorf("network agent: %w", err)
	}
	return nil
}

// Migrate leaves the agent in the shoot.
func (a *Actor) Migrate(ctx context.Context, object *gardenextensionsv1alpha1.Network, _ *engine.Cluster) error {
	return a.Forget(ctx, object.Namespace, setName)
}

// check refuses what the agent does not support: IPv6, and shoots without kube-proxy.
func check(object *gardenextensionsv1alpha1.Network, cluster *engine.Cluster) error {
	for _, family := range object.Spec.IPFamilies {
		if family != gardenextensionsv1alpha1.IPFamilyIPv4 {
			return fmt.Errorf("the local network serves IPv4 only, not %s", family)
		}
	}
	network, err := netip.ParsePrefix(object.Spec.PodCIDR)
	if err != nil || !network.Addr().Is4() {
		return fmt.Errorf("the pod network %q is not an IPv4 network", object.Spec.PodCIDR)
	}
	proxy := cluster.Shoot.Spec.Kubernetes.KubeProxy
	if proxy != nil && proxy.Enabled != nil && !*proxy.Enabled {
		return errors.New("the local network needs kube-proxy, which the shoot has disabled")
	}
	return nil
}

const (
	// Name of the DaemonSet and its service account.
	Name = "local-network"
	// ClusterName names the cluster-wide objects.
	ClusterName = "extensions.gardener.cloud:provider-local:network"

	// setName names the set of objects in the shoot.
	setName = "network"

	configDir = "/etc/cni/net.d"
	hostRoot  = "/host"
)

// Render returns the objects of the network agent, for a shoot with that network of all pods.
func Render(image, podNetwork string) []client.Object {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: Name}
	clusterMeta := metav1.ObjectMeta{Name: ClusterName}
	labels := map[string]string{"app": Name}
	// A node has no network without it.
	critical := map[string]string{"app": Name, gardencorev1beta1.LabelNodeCriticalComponent: "true"}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{ObjectMeta: clusterMeta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"},
		}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: clusterMeta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ClusterName},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: Name}},
		},
		&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: Name, Labels: critical},
			Spec: appsv1.DaemonSetSpec{
				RevisionHistoryLimit: new(int32(1)),
				Selector:             &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: critical},
					Spec:       podSpec(image, podNetwork),
				},
			},
		},
	}
}

// podSpec lets the agent configure the network of the machine and run the programs of the machine, which are below hostRoot.
func podSpec(image, podNetwork string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            Name,
		AutomountServiceAccountToken:  new(true),
		EnableServiceLinks:            new(false),
		HostNetwork:                   true,
		DNSPolicy:                     corev1.DNSDefault,
		PriorityClassName:             "system-node-critical",
		TerminationGracePeriodSeconds: new(int64(5)),
		// A node without a network is tainted and refuses other pods, so this one must tolerate everything.
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{
			Name:            "network-agent",
			Image:           image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{
				"/usr/local/bin/network-agent",
				"--pod-network=" + podNetwork,
				"--config-dir=" + configDir,
				"--host-root=" + hostRoot,
			},
			Env: []corev1.EnvVar{{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"},
			}}},
			SecurityContext:          &corev1.SecurityContext{Privileged: new(true)},
			Resources:                component.Requests("10m", "32Mi"),
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: configDir},
				{Name: "host", MountPath: hostRoot, ReadOnly: true},
			},
		}},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: configDir}}},
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}},
		},
	}
}
