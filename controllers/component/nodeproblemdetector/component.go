// SPDX-License-Identifier: Apache-2.0

// Package nodeproblemdetector renders what looks for problems of nodes that a kubelet does not see: it reads the log of the kernel, and
// writes events and conditions of the Node, such as KernelDeadlock. The machine controller replaces a node on which such a condition stays.
//
// Local machines have none. Their kernel is that of a node of the seed: its log belongs to all shoots of the seed and not to one, and a
// problem of that kernel does not go when one of the machines is replaced.
package nodeproblemdetector

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

const (
	// Name is that of its workload, of its service account and of its image.
	Name component.Name = name

	name = "node-problem-detector"
	// role is what it may do in the shoot.
	role = "gardener.cloud:target:" + name
	// program and configDir are where upstream images have it and what it looks for.
	program, configDir = "/node-problem-detector", "/config"

	// kernelLog is the device with the messages of the kernel.
	kernelLog    = "/dev/kmsg"
	kernelVolume = "kmsg"
	healthPort   = 20256
	metricsPort  = 20257
)

// Component is the detector on the nodes of a shoot whose machines have a kernel of their own.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the detector of problems of nodes", Images: []string{name}, After: []component.Name{shootsystem.Name},
		Wanted: func(f facts.Shoot) bool { return f.Workers() && !f.LocalMachines() },
		Render: render,
	}
}

// render returns the objects inside the shoot.
func render(_ facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels()}
	global := metav1.ObjectMeta{Name: role, Labels: labels()}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{ObjectMeta: global, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"nodes/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: global, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: name}},
		},
		daemonSet(meta, in.Image(name)),
	}, nil
}

func daemonSet(meta metav1.ObjectMeta, image string) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		ObjectMeta: meta,
		Spec: appsv1.DaemonSetSpec{
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			RevisionHistoryLimit: new(int32(2)),
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("10%"))},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: pod(image)},
		},
	}
}

// pod may read the log of the kernel, and needs root and privileges for that: a device of the node is open to no other container. It writes
// nothing on the node and is not in its network.
func pod(image string) corev1.PodSpec {
	spec := component.Pod{
		PriorityClass: "system-cluster-critical",
		Container: corev1.Container{
			Name: name, Image: image, Command: []string{program},
			Args: []string{
				"--logtostderr",
				"--config.system-log-monitor=" + configDir + "/kernel-monitor.json," + configDir + "/readonly-monitor.json",
				fmt.Sprintf("--port=%d", healthPort), "--address=0.0.0.0",
				fmt.Sprintf("--prometheus-port=%d", metricsPort), "--prometheus-address=0.0.0.0",
				// All pods of the DaemonSet would ask at the same time.
				"--k8s-exporter-heartbeat-period=5m0s",
			},
			Env: []corev1.EnvVar{{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}},
			Ports: []corev1.ContainerPort{
				{Name: "health", ContainerPort: healthPort, Protocol: corev1.ProtocolTCP}, {Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
			},
			LivenessProbe: live(), Resources: component.Requests("20m", "20Mi"),
			VolumeMounts: []corev1.VolumeMount{{Name: kernelVolume, MountPath: kernelLog, ReadOnly: true}},
		},
		Volumes: []corev1.Volume{
			{Name: kernelVolume, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: kernelLog}}},
		},
	}.Spec()
	spec.ServiceAccountName, spec.AutomountServiceAccountToken = name, new(true)
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, {Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}
	spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: spec.SecurityContext.SeccompProfile}
	spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true), ReadOnlyRootFilesystem: new(true)}
	return spec
}

func live() *corev1.Probe {
	probe := component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/healthz")
	probe.InitialDelaySeconds, probe.PeriodSeconds = 15, 60
	return probe
}

func labels() map[string]string {
	return map[string]string{
		"app":                                 name,
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		gardencorev1beta1.LabelShootNoCleanup: "true",
	}
}
