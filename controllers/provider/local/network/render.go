// SPDX-License-Identifier: Apache-2.0

package network

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Name of the DaemonSet and its service account.
	Name = "local-network"
	// ClusterName names the cluster-wide objects.
	ClusterName = "extensions.gardener.cloud:provider-local:network"

	configDir = "/etc/cni/net.d"
	hostRoot  = "/host"
)

// Values of the rendered objects.
type Values struct {
	// Image holds the network agent.
	Image string
	// PodNetwork is the network of all pods of the shoot.
	PodNetwork string
}

// Render returns the objects of the network agent, for the shoot.
func Render(v Values) []client.Object {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: Name}
	clusterMeta := metav1.ObjectMeta{Name: ClusterName}
	labels := map[string]string{"app": Name}
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
			ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: Name, Labels: labels},
			Spec: appsv1.DaemonSetSpec{
				RevisionHistoryLimit: new(int32(1)),
				Selector:             &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       podSpec(v),
				},
			},
		},
	}
}

// podSpec: the agent works on the network of the machine itself, and runs the machine's own programs below hostRoot.
func podSpec(v Values) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            Name,
		AutomountServiceAccountToken:  new(true),
		EnableServiceLinks:            new(false),
		HostNetwork:                   true,
		DNSPolicy:                     corev1.DNSDefault,
		PriorityClassName:             "system-node-critical",
		TerminationGracePeriodSeconds: new(int64(5)),
		// A node without a network refuses other pods; this one has to run everywhere, always.
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{
			Name:            "network-agent",
			Image:           v.Image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{
				"/usr/local/bin/network-agent",
				"--pod-network=" + v.PodNetwork,
				"--config-dir=" + configDir,
				"--host-root=" + hostRoot,
			},
			Env: []corev1.EnvVar{{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"},
			}}},
			SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("10m"),
				corev1.ResourceMemory: resource.MustParse("32Mi"),
			}},
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
